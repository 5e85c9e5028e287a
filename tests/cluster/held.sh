#!/bin/bash
# The cluster tests about order once more, while every pod is held until its gate would open: what a pod waits for its condition says
# then. `make test-held` calls it. What it starts or installs, it takes away.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=session.sh
. tests/cluster/session.sh

held() {
  HELM_FLAGS="${HELM_FLAGS:-} --set holds.enabled=true,holds.default=true,podConditions.enabled=true" make install
  SLUICE_TEST_CLUSTER=1 SLUICE_TEST_ALL_HELD=1 tests --test it -- --ignored --test-threads 8 \
    cluster::{annotations::terms,order::{chains,parts,plans,slots,updates,waves},readiness::memory}::
}
plan held 5 'cluster tests, while every pod is held until its gate would open'
announce

with_cluster
with_sluice
stage held
make install
