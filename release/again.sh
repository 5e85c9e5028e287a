#!/bin/bash
# again.sh VERSION ARCHES PLUGINS: makes the release of that version once more, from a clone of the commit in a folder of its own, and
# compares; then runs the gate for another kind of machine once, under an emulator. `make release-check` calls it.
set -eu
cd "$(dirname "$0")/.."
version=$1 arches=$2 plugins=$3
[ -z "$(git status --porcelain)" ] || { echo 'release-check: commit first; the second release is made of the commit' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet --local . "$folder/sluice"
make -C "$folder/sluice" release VERSION="$version" ARCHES="$arches" PLUGINS="$plugins"
diff --recursive --brief "target/release-$version" "$folder/sluice/target/release-$version"
echo 'release-check: both are the same, byte for byte'

for machine in x86_64 aarch64; do
  gate=target/$machine-unknown-linux-gnu/gate/sluice-gate
  [ "$machine" != "$(uname -m)" ] && [ -e "$gate" ] || continue
  tests/cluster/setup.sh qemu-user-static
  said=$("qemu-$machine-static" "$gate" --version)
  [ "$said" = "sluice-gate $version" ] || { echo "release-check: the gate for $machine says '$said'" >&2; exit 1; }
  echo "release-check: the gate for $machine runs: $said"
done
