# shellcheck shell=bash
# For a script to source that builds programs of other projects, each from its own Go module. It needs: bin, the folder that they go
# into; check, not empty where nothing is to be built; and a function `manifests FILE…` that takes what belongs to a program.

# Only the module proxy is asked: a module that it does not serve fails at once instead of being sought elsewhere.
if [ -z "$check" ]; then
  command -v go >/dev/null || { echo "Go is needed to build ${bin##*/}" >&2; exit 1; }
  mkdir -p "$bin/crds"
  proxy=$(go env GOPROXY)
  # As build.sh does, which says why.
  export GOGC=off GOMEMLIMIT=1GiB CGO_ENABLED=0 GOPROXY=${proxy%%,direct*}
fi

# said: runs a Go command without its line for every download.
said() { "$@" 2> >(grep -v '^go: downloading' >&2); }

# get NAME MODULE VERSION PACKAGE FILES [MODULE => MODULE VERSION]…: one program and the manifests that belong to it.
#
# It is built where its module was unpacked, with the go.mod and go.sum of its release, less the replacements by a folder,
# which a module does not carry, and with those given here. `go install` refuses a module that replaces anything.
get() {
  local name=$1 module=$2 version=$3 package=$4 files=$5 key work folder
  shift 5
  key="$module@$version $*"
  [ "$(cat "$bin/.$name" 2>/dev/null)" = "$key" ] && return
  [ -z "$check" ] || exit 1
  echo "  -> $name $version"
  work=$(mktemp -d)
  folder=$(cd "$work" && said go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  sed '/=> \.\//d' "$folder/go.mod" > "$work/go.mod"
  [ $# = 0 ] || printf 'replace %s\n' "$@" >> "$work/go.mod"
  cat "$folder/go.sum" > "$work/go.sum" # not cp, which would keep it from being written
  (
    cd "$folder"
    said go build -trimpath -gcflags=all=-dwarf=false -ldflags '-s -w' -mod=mod -modfile="$work/go.mod" -o "$bin/$name" "$package"
    # shellcheck disable=SC2086 # FILES is a list of patterns
    manifests $files
  )
  rm -r "$work"
  echo "$key" > "$bin/.$name"
}
