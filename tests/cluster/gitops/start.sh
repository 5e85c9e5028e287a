#!/bin/bash
# start.sh BIN DIR ENGINES: in the node, starts the source server, Flux (unless ENGINES is "argocd") and Argo CD, and returns when all of
# them answer. They use the node's 127.0.0.1; but the metrics of Argo CD's application controller know no address and listen on all of the
# node's.
set -eu
bin=$1 dir=$2 engines=$3
run=/run/gitops # gitops knows it too
export PATH=$bin:$PATH HOME=$dir TMPDIR=$dir/tmp
mkdir -p $run

# start NAME COMMAND…
start() {
  local name=$1
  shift
  setsid "$@" >>"$dir/log/$name.log" 2>&1 </dev/null &
  echo $! > "$run/$name.pid"
}

# ready NAME URL: waits 15 minutes for an answer.
ready() {
  local name=$1 url=$2
  for _ in $(seq 9000); do
    busybox wget -q -O /dev/null "$url" 2>/dev/null && return
    kill -0 "$(cat "$run/$name.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "gitops: $name does not answer" >&2
  tail -5 "$dir/log/$name.log" >&2
  exit 1
}

echo sources > "$dir/www/index.html"
start sources busybox httpd -f -p 127.0.0.1:19300 -h "$dir/www"

# flux NAME HEALTH-PORT [arguments]
flux() {
  local name=$1 port=$2
  shift 2
  RUNTIME_NAMESPACE=flux-system KUBECONFIG=$dir/$name.kubeconfig \
    start "$name" "$name" --log-encoding=console --metrics-addr=0 --health-addr="127.0.0.1:$port" "$@"
}
if [ "$engines" != argocd ]; then
  flux source-controller 19311 --storage-path="$dir/data" --storage-addr=127.0.0.1:19301 --storage-adv-addr=127.0.0.1:19301
  flux kustomize-controller 19312
  flux helm-controller 19313
fi

# argocd PROGRAM [arguments]: it has one binary, which is told by its environment what to be.
argocd() {
  ARGOCD_BINARY_NAME=$1 KUBECONFIG=$dir/argocd-application-controller.kubeconfig \
    start "$1" "$bin/argocd" --logformat text --redis 127.0.0.1:19320 "${@:2}"
}
export ARGOCD_FAKE_IN_CLUSTER=true ARGOCD_CONTROLLER_REPLICAS=1 ARGOCD_CONTROLLER_SHARD=0
export ARGOCD_RECONCILIATION_TIMEOUT=60s ARGOCD_RECONCILIATION_JITTER=0s
export ARGOCD_GPG_ENABLED=false ARGOCD_ASK_PASS_SOCK=$dir/tmp/ask-pass.sock
export ARGOCD_TLS_DATA_PATH=$dir/tmp ARGOCD_SSH_DATA_PATH=$dir/tmp ARGOCD_PLUGINSOCKFILEPATH=$dir/plugins
export HELM_CACHE_HOME=$dir/helm HELM_CONFIG_HOME=$dir/helm HELM_DATA_HOME=$dir/helm
# The package redis-server would start a server of its own when it is installed. redis-tools has the same program: it is a
# server by that name.
start redis bash -c 'exec -a redis-server redis-check-rdb "$@"' redis \
  --bind 127.0.0.1 --port 19320 --save '' --appendonly no --dir "$dir/tmp"
argocd argocd-repo-server --disable-tls --client-ca-path= --address 127.0.0.1 --port 19321 \
  --metrics-address 127.0.0.1 --metrics-port 19322
argocd argocd-application-controller --repo-server 127.0.0.1:19321 --repo-server-plaintext --metrics-port 19323

ready sources http://127.0.0.1:19300/
if [ "$engines" != argocd ]; then
  ready source-controller http://127.0.0.1:19301/
  ready source-controller http://127.0.0.1:19311/readyz
  ready kustomize-controller http://127.0.0.1:19312/readyz
  ready helm-controller http://127.0.0.1:19313/readyz
fi
ready argocd-repo-server "http://127.0.0.1:19322/healthz?full=true"
ready argocd-application-controller http://127.0.0.1:19323/healthz
