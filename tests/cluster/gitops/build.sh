#!/bin/bash
# build.sh BIN [check]: Flux's controllers and Argo CD into BIN/gitops, each from its own Go module at the version that
# versions.env pins. What is there at that version is kept. With "check" nothing is built: it fails where something would be.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$1/gitops
check=${2:-}
# shellcheck source=versions.env
. "$here/versions.env"

# Only the module proxy is asked: a module that it does not serve fails at once instead of being sought elsewhere.
if [ -z "$check" ]; then
  command -v go >/dev/null || { echo "gitops: Go is needed to build Argo CD and Flux" >&2; exit 1; }
  mkdir -p "$bin/crds"
  proxy=$(go env GOPROXY)
  # As ../build.sh does, which says why.
  export GOGC=off GOMEMLIMIT=1GiB CGO_ENABLED=0 GOPROXY=${proxy%%,direct*}
fi

# said: runs a Go command without its line for every download.
said() { "$@" 2> >(grep -v '^go: downloading' >&2); }

# manifests FILE…: definitions go into crds, the rest beside the programs.
manifests() {
  local file
  for file; do
    case $file in
    *.sh) install -m 755 "$file" "$bin/" ;;
    *argocd-cm.yaml) install -m 644 "$file" "$bin/" ;;
    *) install -m 644 "$file" "$bin/crds/" ;;
    esac
  done
}

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
  sed '/^replace .* => \.\//d' "$folder/go.mod" > "$work/go.mod"
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

flux=github.com/fluxcd argo=github.com/argoproj/argo-cd
definitions='config/crd/bases/*.yaml'
get source-controller "$flux/source-controller" "v$SOURCE_CONTROLLER" . "$definitions" \
  "$flux/pkg/artifact => $flux/pkg/artifact v$FLUX_ARTIFACT"
get kustomize-controller "$flux/kustomize-controller" "v$KUSTOMIZE_CONTROLLER" . "$definitions"
get helm-controller "$flux/helm-controller" "v$HELM_CONTROLLER" . "$definitions"
# The wrapper is called even where signatures are not verified.
get argocd "$argo/v3" "v$ARGO_CD" ./cmd 'manifests/crds/app*.yaml manifests/base/config/argocd-cm.yaml hack/git-verify-wrapper.sh' \
  "$argo/gitops-engine => $argo/gitops-engine v$ARGO_ENGINE"
get kustomize sigs.k8s.io/kustomize/kustomize/v5 "v$KUSTOMIZE" . ''
