#!/bin/bash
# demo.sh: the shop on the cluster of KUBECONFIG, with the image on its nodes and sluice installed (`make demo` sees to both).
# Installs it with plain helm, shows live what waits for what and then where the time went, and upgrades it to a new schema.
# Ends with 1 where a container was started in vain, or a customer got no answer. SHELL_NEEDS: the line that has to be run in a
# new shell before it knows this cluster and the commands that are told at the end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
namespace=${SHOP_NAMESPACE:-shop} chart=${SHOP_CHART:-$here/chart}
bold=; plain=; if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; fi
say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain"; }
pending() { kubectl get pods -n "$namespace" -l sluice.dev/gated=true --field-selector status.phase=Pending -o name; }
for program in kubectl kubectl-sluice helm curl; do command -v $program >/dev/null || { echo "demo.sh: $program is not in PATH" >&2; exit 1; }; done
kubectl get --raw /readyz >/dev/null || { echo "demo.sh: no cluster answers; is KUBECONFIG set?" >&2; exit 1; }
[ -n "$(kubectl -n sluice-system get deployments -o name 2>/dev/null)" ] || echo "demo.sh: sluice is not in this cluster, so nothing will be held back; 'make install' puts it there" >&2

# What waits, live, until everything is there; then nothing may have been started too early: it would have ended with an error.
follow() {
  for _ in $(seq 50); do [ -z "$(pending)" ] || break; sleep 0.1; done
  show kubectl sluice status --release shop -n "$namespace" --watch
  kubectl sluice status --release shop -n "$namespace" --watch
  for workload in $(kubectl get statefulsets,deployments -n "$namespace" -o name); do
    kubectl rollout status "$workload" -n "$namespace" --timeout=15m
  done
  vain=$(kubectl get pods -n "$namespace" -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}' | tr ' ' '\n' | awk '{ sum += $1 } END { print sum + 0 }')
  # One that is being deleted has failed by the signal that ended it.
  failed=$(kubectl get pods -n "$namespace" --field-selector status.phase=Failed -o go-template='{{range .items}}{{if not .metadata.deletionTimestamp}}x{{end}}{{end}}' | wc -c)
  echo "Containers that were started in vain: $((vain + failed))"
  [ $((vain + failed)) = 0 ]
}
# A customer asks for the products as long as the file is there.
asks() { while [ -e "$asking" ]; do curl --fail --silent --show-error --max-time 5 "$url" 2>&1 || echo ' (no answer)'; echo; sleep 0.1; done >"$answers"; }

forward='' log=$(mktemp) asking=$(mktemp) answers=$(mktemp)
cleanup() { rm -f "$log" "$asking" "$answers"; [ -z "$forward" ] || kill "$forward" 2>/dev/null || true; }
trap cleanup EXIT

say "All that the chart says about order: one line on each workload"
(cd "$chart" && grep -Hn 'sluice.dev/depends-on' templates/*.yaml)
echo "No wait loop, no init container, no rights: what starts too early exits."

if helm status shop -n "$namespace" >/dev/null 2>&1; then
  say "The shop of an earlier run goes first"
  helm uninstall shop -n "$namespace" --wait
fi
[ -z "$(kubectl get pods -n "$namespace" -o name 2>/dev/null)" ] || kubectl wait pods --all -n "$namespace" --for=delete --timeout=15m

say "Install"
show helm install shop examples/shop/chart -n "$namespace" --create-namespace
helm install shop "$chart" -n "$namespace" --create-namespace >"$log" || { cat "$log" >&2; exit 1; }
follow

say "Where the time went"
show kubectl sluice graph --release shop -n "$namespace"
kubectl sluice graph --release shop -n "$namespace"

say "What a customer sees"
address=$(kubectl get service web -n "$namespace" -o 'jsonpath={.spec.clusterIP}')
if ! curl --silent --max-time 2 --output /dev/null "http://$address/"; then          # not a cluster whose addresses this machine knows
  kubectl port-forward -n "$namespace" svc/web :80 >"$log" 2>&1 & forward=$!
  for _ in $(seq 9000); do grep -q 'Forwarding from 127' "$log" && break; kill -0 $forward 2>/dev/null || break; sleep 0.1; done
  address=$(sed -n 's/^Forwarding from \(127[0-9.:]*\) .*/\1/p' "$log")
fi
url=http://$address/api/products
show curl "$url"
curl --fail --silent --show-error "$url" || { cat "$log" >&2; exit 1; }

say "Upgrade: the API needs schema 2, and the database gets it from a new migration"
show helm upgrade shop examples/shop/chart -n "$namespace" --set schema=2
echo "The API pods of schema 1 serve until those of schema 2 may start; every 0.1 s a customer asks for the products."
asks & customer=$!
helm upgrade shop "$chart" -n "$namespace" --set schema=2 >/dev/null
follow
rm -f "$asking"; wait $customer
for schema in 1 2; do echo "Answers of the API of schema $schema: $(grep -c "\"schema\": *$schema" "$answers" || true)"; done
unanswered=$(grep -c 'no answer' "$answers" || true)
echo "Customers without an answer: $unanswered"
[ "$unanswered" = 0 ]
show curl "$url"
curl --fail --silent --show-error "$url"

say "Look further"
if [ -n "${SHELL_NEEDS:-}" ]; then printf 'In a new shell, once:\n\n%s\n\n' "$SHELL_NEEDS"; fi
cat <<TEXT
kubectl sluice status -n $namespace deploy/api              what it waits for, or waited for; a pod's name does as well
kubectl sluice status -A                             everything that waits
kubectl get events -n $namespace                            the same from the pods' events
kubectl -n $namespace logs deploy/api -c sluice-gate        what its gate said

Clean up: helm uninstall shop -n $namespace; kubectl delete namespace $namespace
TEXT
