#!/bin/bash
# programs.sh VERSION ARCHITECTURE…: the programs of a release, for each kind of machine, by this one. `make release` calls it.
# For another kind than this one's it takes Rust's library from rustup, once, and a C compiler and library from Debian.
set -eu
cd "$(dirname "$0")/.."
version=$1
shift
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "release: VERSION is '$version'; write x.y.z or x.y.z-rc.1" >&2; exit 1; }

# The programs say which version they are; that of the sources they know, and what was built for it is taken as it is.
grep -q "^version = \"$version\"$" Cargo.toml || export SLUICE_VERSION=$version

for architecture; do
  case $architecture in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  *) echo "release: there is no way here to build for $architecture; ARCHES names amd64, arm64 or both" >&2; exit 1 ;;
  esac
  target=$machine-unknown-linux-gnu
  cross=()
  if [ "$machine" != "$(uname -m)" ]; then
    tests/cluster/setup.sh "gcc-${machine/_/-}-linux-gnu" "libc6-dev-$architecture-cross"
    if [ ! -d "$(rustc --print target-libdir --target "$target")" ]; then
      rustup target add "$target" || { echo "release: without Rust's library for $target nothing is built for $architecture; ARCHES=… leaves it out" >&2; exit 1; }
    fi
    variable=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")_LINKER
    cross=("$variable=$machine-linux-gnu-gcc")
  fi
  # A node's pages may have up to 64 KiB, which the allocator can only find out of the machine that it is built on.
  [ "$machine" != aarch64 ] || cross+=(JEMALLOC_SYS_WITH_LG_PAGE=16)
  echo "==> building for $architecture"
  env "${cross[@]}" make programs target="$target"
done
