# shellcheck shell=bash
# For a script to source: a cluster with sluice for its tests, and all of it away again, however the script ends, that was
# not there before. `log` collects what its test runners say.
namespace=${NAMESPACE:-sluice-system}
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
log=$(mktemp)
up='' installed='' made=''

# What the script itself started; it may say so.
leave_first() { :; }

# Nothing of ours stays: not the release, not its namespace, not the cluster.
leave() {
  local status=$?
  trap - EXIT
  leave_first || true
  if [ -n "$installed" ] && [ -z "$up" ]; then helm uninstall sluice --namespace "$namespace" --wait >/dev/null || true; fi
  if [ -n "$made" ] && [ -z "$up" ]; then kubectl delete namespace "$namespace" >/dev/null || true; fi
  [ -z "$up" ] || "$cluster/cluster" down
  echo
  grep -E '^(test result|Ran |OK|FAILED)' "$log" || true
  if [ $status -eq 0 ]; then echo 'test: all passed'; else echo "test: FAILED ($status)"; fi
  rm -f "$log"
  exit $status
}
trap leave EXIT
trap 'exit 130' INT TERM

with_cluster() {
  if [ -n "${SLUICE_OWN_CLUSTER:-}" ] && ! "$cluster/cluster" status; then
    up=yes
    "$cluster/cluster" up
  fi
}

with_sluice() {
  kubectl get namespace "$namespace" >/dev/null 2>&1 || made=yes
  helm status sluice --namespace "$namespace" >/dev/null 2>&1 || installed=yes
  make install
}
