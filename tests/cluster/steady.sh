#!/bin/bash
# steady.sh: cluster tests again and again on a machine that is busy, because a test that fails once in thirty is a bug. `make steady` calls
# it: TESTS has words of their names, TIMES how often. What it starts or installs, it takes away.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=session.sh
. tests/cluster/session.sh
# Those that have failed for want of time: what they see hangs on who is first.
read -ra words <<< "${TESTS:-cluster::readiness::stale:: cluster::order::updates:: cluster::annotations::patience:: cluster::troubleshooting::causes:: cluster::troubleshooting::told:: cluster::documented::}"
times=${TIMES:-30}

# Each processor has something else to do, too.
busy() {
  for _ in $(seq "$(nproc)"); do yes >/dev/null & loads+=($!); done
}
idle() { [ ${#loads[@]} = 0 ] || kill "${loads[@]}" 2>/dev/null || true; }
leave_first() { idle; }

steady() {
  local round red=0
  loads=()
  trap idle EXIT
  SLUICE_TEST_CLUSTER=1 tests --test it --no-run
  busy
  for round in $(seq "$times"); do
    SLUICE_TEST_CLUSTER=1 tests --test it -- --ignored --test-threads 8 "${words[@]}" >"$logs/steady-$round.log" 2>&1 \
      || { red=$((red + 1)); failed "$logs/steady-$round.log"; }
    # As each runner says it, for the end to count.
    grep '^test result' "$logs/steady-$round.log" | tail -n 1 || true
    echo "round $round of $times, load $(cut -d' ' -f1 /proc/loadavg)"
  done
  echo "steady: $((times - red)) of $times rounds are green"
  [ "$red" = 0 ]
}
loads=()
plan steady $((times * 3)) "$times rounds of ${words[*]}, on a busy machine"
announce

with_cluster
with_sluice
stage steady
