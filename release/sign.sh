#!/bin/bash
# sign.sh VERSION PUBLISHED: signs each image and the chart by its digest, and attaches to each image the crates of its program, as a signed
# statement. PUBLISHED has what publish.sh printed, one NAME:TAG@DIGEST a line. Needs crane, and cosign with an identity: the workflow's own.
set -eu
cd "$(dirname "$0")/.."
version=$1 published=$2
made=target/release-$version

while read -r name; do
  digest=${name#*@} name=${name%@*}
  name=${name%:*}
  cosign sign --yes "$name@$digest"
  for crates in "$made/${name##*/}-$version"-*.cdx.json; do
    # The chart has none.
    [ -e "$crates" ] || continue
    architecture=${crates%.cdx.json}
    architecture=${architecture##*-}
    image=$(crane digest --platform "linux/$architecture" "$name@$digest")
    cosign attest --yes --type cyclonedx --predicate "$crates" "$name@$image"
  done
done < "$published"
