#!/bin/bash
# start.sh BIN DIR: in the node, starts the operators, and returns when all of them are ready.
set -eu
bin=$1 dir=$2
run=/run/operators # operators knows it too
export HOME=$dir KUBECONFIG=${CLUSTER_STATE:-/var/lib/sluice-cluster}/kubeconfig
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
    curl --insecure --fail --silent --output /dev/null "$url" && return
    kill -0 "$(cat "$run/$name.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "operators: $name does not answer" >&2
  tail -5 "$dir/log/$name.log" >&2
  exit 1
}

# configuration NAME API-VERSION PORT MORE: of an operator that reads a file.
configuration() {
  cat > "$dir/$1.yaml" <<TEXT
apiVersion: $2
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:$(($3 + 1))"}
metrics: {bindAddress: "127.0.0.1:$(($3 + 2))"}
webhook: {port: $3, certDir: $dir/certificates/$1}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
$4
TEXT
}

start prometheus-operator "$bin/prometheus-operator" --web.listen-address=127.0.0.1:19401 \
  --prometheus-config-reloader=docker.io/library/busybox:1.35 --kubelet-endpoints=false
configuration jobset config.jobset.x-k8s.io/v1alpha1 19411 ''
start jobset "$bin/jobset" --config="$dir/jobset.yaml"
configuration kueue config.kueue.x-k8s.io/v1beta2 19421 'integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset, pod, deployment]}
featureGates: {VisibilityOnDemand: false}'
# It serves its metrics with a certificate from a folder that no option names.
mkdir -p "$dir"/etc/{more/kueue/metrics/certs,work}
cp "$dir/certificates/kueue/"tls.* "$dir/etc/more/kueue/metrics/certs/"
# shellcheck disable=SC2016 # the shell in the namespace evaluates it
start kueue unshare --mount --propagation private bash -c '
  mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc/more,workdir=$1/etc/work" overlay /etc
  exec "$2/kueue" --config="$1/kueue.yaml"' bash "$dir" "$bin"
cd "$dir/cnpg"
OPERATOR_NAMESPACE=cnpg-system OPERATOR_IMAGE_NAME=localhost/cnpg:dev WEBHOOK_CERT_DIR=$dir/certificates/cnpg \
  start cnpg "$bin/cnpg" controller --webhook-port=19431 --metrics-bind-address=127.0.0.1:19432

start cert-manager "$bin/cert-manager" 127.0.0.1:19441

ready cert-manager http://127.0.0.1:19441/
ready prometheus-operator http://127.0.0.1:19401/healthz
ready jobset http://127.0.0.1:19412/readyz
ready kueue http://127.0.0.1:19422/readyz
ready cnpg https://127.0.0.1:19431/readyz
