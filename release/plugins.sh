#!/bin/bash
# plugins.sh VERSION PLATFORM…: kubectl-sluice for macOS and Windows, on Linux, without an SDK: darwin-arm64, darwin-amd64, windows-amd64.
# `make release` calls it. Only the first run needs a network: it takes a linker from pip and Rust's library from rustup.
set -eu
cd "$(dirname "$0")/.."
version=$1
shift
[ $# -gt 0 ] || exit 0
folder=$PWD/target/tools/zig

grep -q "^version = \"$version\"$" Cargo.toml || export SLUICE_VERSION=$version

if ! cmp -s release/requirements.txt "$folder/requirements.txt"; then
  echo '==> installing what links for other systems (once, 450 MB)'
  python3 -m pip --version >/dev/null 2>&1 || tests/cluster/setup.sh python3-pip
  rm -rf "$folder"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --require-hashes --only-binary :all: \
    --target "$folder" --requirement release/requirements.txt
  cp release/requirements.txt "$folder/"
fi
export CARGO_ZIGBUILD_ZIG_PATH=$folder/ziglang/zig CARGO_ZIGBUILD_CACHE_DIR=$folder/cache ZIG_GLOBAL_CACHE_DIR=$folder/cache
# loadable.py looks for both in the program: the oldest macOS that runs it, and no time of linking in one for Windows.
export MACOSX_DEPLOYMENT_TARGET=11.0 SOURCE_DATE_EPOCH=0
stubs=target/stubs
release/stubs.py "$stubs"

for platform; do
  program=kubectl-sluice
  # Cargo puts no path of these into the name of a crate, and so into no symbol: neither a home nor, as it is relative, a checkout.
  flags=--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo
  case $platform in
  darwin-arm64) target=aarch64-apple-darwin ;;
  darwin-amd64) target=x86_64-apple-darwin ;;
  windows-amd64) target=x86_64-pc-windows-gnu program=kubectl-sluice.exe ;;
  *) echo "release: there is no way here to build for $platform; PLUGINS names darwin-arm64, darwin-amd64, windows-amd64, or none" >&2; exit 1 ;;
  esac
  # Without the list of objects for debuggers: it names folders, and though it is stripped later, the program's UUID is a sum of it.
  case $platform in darwin-*) flags+=" -C link-arg=-F$stubs -C link-arg=-Wl,-S" ;; esac
  if [ ! -d "$(rustc --print target-libdir --target "$target")" ]; then
    rustup target add "$target" || { echo "release: without Rust's library for $target nothing is built for $platform; PLUGINS=… leaves it out" >&2; exit 1; }
  fi
  echo "==> building for $platform"
  RUSTFLAGS=$flags PATH=$folder/bin:$PATH cargo-zigbuild zigbuild --locked --profile "$PROFILE" -p cli --target "$target"
  release/loadable.py "$platform" "target/$target/$PROFILE/$program"
done
