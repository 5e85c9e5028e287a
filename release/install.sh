#!/bin/sh
# install.sh: downloads kubectl-sluice of a release, compares its SHA-256 sum with the release's SHA256SUMS, and puts it into a folder.
set -eu

# `make release` writes its version here.
released=
# Where the files of a release are, each version in a folder of its own: repository in release/home.
releases=${SLUICE_RELEASES:-https://github.com/sluice-dev/sluice/releases/download}

usage() {
  cat <<END
Usage: sh install.sh [--version VERSION] [--directory DIRECTORY]

Installs kubectl-sluice, which kubectl runs as "kubectl sluice".

  --version VERSION      the release to take, such as 0.1.0${released:+; without it $released}
  --directory DIRECTORY  where to put the program, /usr/local/bin without it; it has to be on the PATH
  --help                 this text

SLUICE_RELEASES=URL takes the files of each release from URL/vVERSION/ in place of
  $releases
END
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

wrong() {
  echo "install.sh: $*; \"sh install.sh --help\" lists the arguments" >&2
  exit 2
}

version=$released
directory=/usr/local/bin
while [ $# -gt 0 ]; do
  case $1 in
  --help | -h)
    usage
    exit 0
    ;;
  --version | --directory)
    [ -n "${2:-}" ] || wrong "$1 needs a value"
    if [ "$1" = --version ]; then version=${2#v}; else directory=$2; fi
    shift 2
    ;;
  --version=?*)
    version=${1#--version=}
    version=${version#v}
    shift
    ;;
  --directory=?*)
    directory=${1#--directory=}
    shift
    ;;
  *) wrong "\"$1\" is no argument of this script" ;;
  esac
done
[ -n "$version" ] || wrong 'this copy is of no release, so name one with --version'
case $version in *[!0-9A-Za-z.+-]*) wrong "\"$version\" is no version; one looks like 0.1.0" ;; esac

system=$(uname -s)
case $system in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no kubectl-sluice for $system; Linux and macOS have one" ;;
esac
machine=$(uname -m)
case $machine in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) fail "there is no kubectl-sluice for $machine; amd64 (x86_64) and arm64 (aarch64) have one" ;;
esac

command -v curl >/dev/null || fail 'curl is not on the PATH; install it first'
if command -v sha256sum >/dev/null; then
  sum() { sha256sum "$1"; }
elif command -v shasum >/dev/null; then
  sum() { shasum -a 256 "$1"; }
else
  fail 'neither sha256sum nor shasum is on the PATH, and without them nothing can be verified'
fi
[ -d "$directory" ] || fail "there is no folder $directory; make it, or name another with --directory"
[ -w "$directory" ] || fail "you may not write to $directory; run this as root, or name another folder with --directory"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# download FILE: -f, because an error page of the server is no file.
download() {
  curl -fsSL --retry 2 --output "$folder/$1" "$releases/v$version/$1" || fail "$2 ($releases/v$version/$1)"
}

archive=kubectl-sluice-$version-$system-$machine.tar.gz
download SHA256SUMS "the release $version was not found, or cannot be reached"
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/SHA256SUMS")
[ -n "$wanted" ] || fail "the release $version has no $archive, by its SHA256SUMS; it was not made for $system on $machine"
download "$archive" "the program of $version for $system on $machine cannot be downloaded"
found=$(sum "$folder/$archive" | cut -d ' ' -f 1)
[ "$found" = "$wanted" ] || fail "$archive has the SHA-256 sum $found, and SHA256SUMS of the release says $wanted; nothing was installed"

tar -xzf "$folder/$archive" -C "$folder" kubectl-sluice || fail "$archive holds no kubectl-sluice"
# Not over the old program, which may be running.
cp "$folder/kubectl-sluice" "$directory/.kubectl-sluice.new"
chmod 755 "$directory/.kubectl-sluice.new"
mv -f "$directory/.kubectl-sluice.new" "$directory/kubectl-sluice"
echo "kubectl-sluice $version is in $directory"
case :$PATH: in
*:"$directory":*) ;;
*) echo "install.sh: $directory is not on your PATH, so \"kubectl sluice\" does not find it yet" >&2 ;;
esac
