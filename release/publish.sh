#!/bin/bash
# publish.sh VERSION [HOST]: the images and the chart of target/release-VERSION into the registry that release/home names, or under the
# same paths at HOST; prints each as NAME:TAG@DIGEST. Needs crane (tests/cluster/versions.env says which) and Helm, both logged in where that is asked for; a host
# without TLS needs PLAIN=1.
set -eu
cd "$(dirname "$0")/.."
version=$1 host=${2:-}
made=target/release-$version
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

while read -r image; do
  name=${image%@*} digest=${image#*@}
  program=${name##*/}
  program=${program%:*}
  mkdir "$folder/$program"
  tar --extract --file "$made/$program-$version.oci.tar" --directory "$folder/$program"
  target=${host:-${name%%/*}}/${name#*/}
  crane push ${PLAIN:+--insecure} "$folder/$program" "$target" >/dev/null
  [ "$(crane digest ${PLAIN:+--insecure} "$target")" = "$digest" ] || { echo "publish: $target has another digest than $digest" >&2; exit 1; }
  echo "$target@$digest"
done < "$made/images.txt"
charts=${target%/*}/charts
# Helm tells where it went as it tells an error.
said=$(helm push ${PLAIN:+--plain-http} "$made/sluice-$version.tgz" "oci://$charts" 2>&1) || { echo "publish: $said" >&2; exit 1; }
digest=$(sed -n 's/^Digest: *//p' <<< "$said")
[ -n "$digest" ] || { echo "publish: helm names no digest: $said" >&2; exit 1; }
echo "$charts/sluice:$version@$digest"
