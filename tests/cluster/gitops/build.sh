#!/bin/bash
# build.sh BIN ENGINES [check]: Flux's controllers and Argo CD into BIN/gitops, or Argo CD alone where ENGINES is "argocd", each from its
# own Go module at the version that versions.env pins. A program that is there at that version is kept. With "check" nothing is built: it
# fails where something would be.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$1/gitops
engines=$2 check=${3:-}
# shellcheck source=versions.env
. "$here/versions.env"

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

# shellcheck source=../modules.sh
. "$here/../modules.sh"

flux=github.com/fluxcd argo=github.com/argoproj/argo-cd
definitions='config/crd/bases/*.yaml'
if [ "$engines" != argocd ]; then
  get source-controller "$flux/source-controller" "v$SOURCE_CONTROLLER" . "$definitions" \
    "$flux/pkg/artifact => $flux/pkg/artifact v$FLUX_ARTIFACT"
  get kustomize-controller "$flux/kustomize-controller" "v$KUSTOMIZE_CONTROLLER" . "$definitions"
  get helm-controller "$flux/helm-controller" "v$HELM_CONTROLLER" . "$definitions"
fi
# The wrapper is called even where signatures are not verified.
get argocd "$argo/v3" "v$ARGO_CD" ./cmd 'manifests/crds/app*.yaml manifests/base/config/argocd-cm.yaml hack/git-verify-wrapper.sh' \
  "$argo/gitops-engine => $argo/gitops-engine v$ARGO_ENGINE"
# No source of the bench is a kustomization.
[ "$engines" = argocd ] || get kustomize sigs.k8s.io/kustomize/kustomize/v5 "v$KUSTOMIZE" . ''
