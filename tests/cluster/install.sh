#!/bin/bash
# install.sh DIR: the images of DIR onto the nodes of KUBECONFIG's cluster, and the chart into it. `make install` calls it.
#   LOAD        puts an image archive on the nodes; empty where they pull the images themselves
#   HELM_FLAGS  more flags for Helm, such as --set image.registry=…
#   NAMESPACE   where to, sluice-system
set -eu
here=$(cd "$(dirname "$0")" && pwd)
images=$1
namespace=${NAMESPACE:-sluice-system}

if [ -n "${LOAD:-}" ]; then
  echo "==> loading the images"
  for archive in "$images"/sluice-*.tar; do $LOAD "$archive"; done
fi

# The tag stays the same when the images change, so the pods carry what they were made from: they roll when it differs.
content=$(cat "$images"/sluice-*.tar | sha256sum | cut -c 1-16)
# The chart names the images of its release; these are the ones that were made here.
made_here=()
for image in image=sluice-webhook gate.image=sluice-gate; do
  made_here+=(--set "${image%=*}.registry=localhost,${image%=*}.repository=${image#*=},${image%=*}.tag=dev")
done
echo "==> installing the chart into $namespace"
# The chart's pods need no more, and a namespace belongs to who makes it, not to the chart.
kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace" >/dev/null
kubectl label --overwrite namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
# shellcheck disable=SC2086 # HELM_FLAGS is a list
helm upgrade --install sluice "$here/../../charts/sluice" --namespace "$namespace" --wait --timeout 15m \
  --set-string "podAnnotations.sluice\.dev/images=$content" "${made_here[@]}" ${HELM_FLAGS:-} >/dev/null
# Those of before take their connections with them when they go: whoever then sends by one of these has to try again.
wanted=$(kubectl --namespace "$namespace" get deployment sluice -o 'jsonpath={.spec.replicas}')
for _ in $(seq 900); do
  [ "$(kubectl --namespace "$namespace" get pods -l app.kubernetes.io/name=sluice --no-headers | wc -l)" -gt "$wanted" ] || break
  sleep 1
done
kubectl --namespace "$namespace" get deployment sluice
