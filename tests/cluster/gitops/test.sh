#!/bin/bash
# The tests under Argo CD and Flux. `make test-gitops` calls it. What it starts or installs, it takes away.
#   SLUICE_GITOPS_SOAK   seconds for which nothing may change, 60
set -eu -o pipefail
cd "$(dirname "$0")/../../.."
programs=tests/cluster/gitops/gitops

if [ -z "${SLUICE_OWN_CLUSTER:-}" ]; then
  echo 'gitops: Argo CD and Flux run in the node of the cluster that `make cluster` starts; unset KUBECONFIG' >&2
  exit 1
fi
# shellcheck source=../session.sh
. tests/cluster/session.sh

started=''
leave_first() { [ -z "$started" ] || $programs down; }

# Before the cluster, which would be in the way for so long.
$programs build
with_cluster
with_sluice
$programs status >/dev/null || { started=yes; $programs up; }

gitops() { SLUICE_TEST_GITOPS=1 tests --test it -- --ignored --nocapture gitops::; }
plan gitops 12 'tests under Argo CD and Flux'
stage gitops
