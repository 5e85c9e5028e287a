#!/bin/bash
# The tests beside operators of other projects. `make test-operators` calls it. What it starts or installs, it takes away.
set -eu -o pipefail
cd "$(dirname "$0")/../../.."
programs=tests/cluster/operators/operators

if [ -z "${SLUICE_OWN_CLUSTER:-}" ]; then
  echo 'operators: they run in the node of the cluster that `make cluster` starts; unset KUBECONFIG' >&2
  exit 1
fi
# shellcheck source=../session.sh
. tests/cluster/session.sh

started=''
leave_first() { [ -z "$started" ] || $programs down; }
export HELM_FLAGS="${HELM_FLAGS:-} --set rbac.presets={cert-manager,cnpg,prometheus-operator,jobset,kueue}"

# Before the cluster, which would be in the way for so long.
$programs build
with_cluster
with_sluice
$programs status >/dev/null || { started=yes; $programs up; }

operators() { SLUICE_TEST_OPERATORS=1 tests --test it -- --ignored --nocapture operators::; }
plan operators 7 'tests beside operators'
stage operators
