# shellcheck shell=bash
# For a script to source: stages of which a failing one hides none after it, a cluster with sluice for them, and all of it away again,
# however the script ends, that was not there before.
namespace=${NAMESPACE:-sluice-system}
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Two sessions of one folder must not clear each other's logs.
logs=${SESSION_LOGS:-$PWD/target/test-logs}
up='' installed='' made=''
# Of a failure what the cluster was like counts: frames of async code would bury it, wherever only the end of an output is kept.
export RUST_BACKTRACE=0
planned=()
declare -A minutes about became sessions begun

# plan NAME MINUTES TEXT: a stage is called as the function that does it.
plan() {
  planned+=("$1")
  minutes[$1]=$2 about[$1]=$3
}

# wanted NAME…: whether one of these stages runs. STAGES='units scripts' runs those alone.
wanted() {
  local name
  [ -n "${STAGES:-}" ] || return 0
  for name; do case " $STAGES " in *" $name "*) return 0 ;; esac; done
  return 1
}

# What runs and how long it takes, before it does. A stage of STAGES that was not planned is refused.
announce() {
  local name total=0 count=0
  for name in ${STAGES:-}; do
    [ -n "${about[$name]:-}" ] || { echo "test: no stage is called $name; there are: ${planned[*]}" >&2; exit 2; }
  done
  for name in "${planned[@]}"; do ! wanted "$name" || { count=$((count + 1)) total=$((total + minutes[$name])); }; done
  echo "test: $count stages, $total min on two cores where everything is built"
  for name in "${planned[@]}"; do ! wanted "$name" || printf '  %3d min  %-10s %s\n' "${minutes[$name]}" "$name" "${about[$name]}"; done
}

# stage NAME: what it says goes into a log of its own, too.
stage() {
  local start=$SECONDS log=$logs/$1.log status=0
  wanted "$1" || { skip "$1" 'STAGES does not name it'; return 0; }
  mkdir -p "$logs"
  echo "==> $1: ${about[$1]} (${minutes[$1]} min)"
  # In a shell of its own, and of no condition: there `set -e` would count for nothing.
  set +e
  (set -e; "$1") 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  set -e
  became[$1]="passed in $(((SECONDS - start + 59) / 60)) min"
  [ "$status" -eq 0 ] || became[$1]="FAILED ($status)"
}

# beside NAME CMD…: another session runs that stage while this one goes on. All that it says is in NAME-session.log.
beside() {
  local name=$1
  shift
  wanted "$name" || { skip "$name" 'STAGES does not name it'; return 0; }
  mkdir -p "$logs"
  echo "==> $name, beside the others: ${about[$name]} (${minutes[$name]} min)"
  STAGES=$name SESSION_LOGS=$logs/$name setsid "$@" >"$logs/$name-session.log" 2>&1 </dev/null &
  sessions[$name]=$! begun[$name]=$SECONDS
}

# joined NAME: waits for that session.
joined() {
  local status=0 log=$logs/$1/$1.log
  [ -n "${sessions[$1]:-}" ] || return 0
  wait "${sessions[$1]}" || status=$?
  unset "sessions[$1]"
  # It may not have come as far as its stage.
  [ -e "$log" ] || log=$logs/$1-session.log
  tee "$logs/$1.log" <"$log"
  became[$1]="passed in $(((SECONDS - begun[$1] + 59) / 60)) min"
  [ "$status" -eq 0 ] || became[$1]="FAILED ($status)"
}

skip() {
  rm -f "$logs/$1.log"
  became[$1]="skipped: $2"
  echo "$1: skipped: $2"
}

# failed LOG: of each test that failed its name and what it said first; of what is no test the log's last line.
failed() {
  local found
  found=$(awk '
    /^---- .* stdout ----$/ { name = $2; next }
    /^thread .* panicked at / && !((name ? name : $2) in told) {
      of = name ? name : $2; told[of] = 1; at = $0; sub(/.* panicked at /, "", at); sub(/:$/, "", at)
      getline said; print "    " of ": " said " (" at ")" }
    /^(FAIL|ERROR): / { print "    " $0 }' "$1")
  printf '%s\n' "${found:-    $(tail -n 1 "$1")}"
  echo "    all of it: $1"
}

# counted: how many tests passed and failed, of each runner's own last lines.
counted() {
  local name
  for name in "${!became[@]}"; do cat "$logs/$name.log" 2>/dev/null || true; done | awk '
    /^test result: / { passed += $4; failed += $6 }
    /^Ran [0-9]+ tests? in / { passed += $2 }
    /^FAILED \(/ { while (match($0, /(failures|errors)=[0-9]+/)) {
      count = substr($0, RSTART, RLENGTH); sub(/.*=/, "", count); failed += count; passed -= count
      $0 = substr($0, RSTART + RLENGTH) } }
    END { printf "%d passed, %d failed\n", passed, failed }'
}

summary() {
  local name
  echo
  for name in "${planned[@]}"; do
    printf '  %-10s %s\n' "$name" "${became[$name]:-not run}"
    [[ ${became[$name]:-} != FAILED* ]] || failed "$logs/$name.log"
  done
}

# tests ARGUMENT…: those of the whole workspace, in the profile of the programs that are only tried, for their target and with their
# flags: with others, or with `-p tests`, each dependency is built once more. Nor do they build the programs that `make programs` has built.
tests() {
  RUSTFLAGS=$TESTS_FLAGS SLUICE_PROGRAMS=$TESTS_PROGRAMS cargo test --locked --profile tried --target "$TESTS_TARGET" --workspace "$@"
}

# What the script itself started; it may say so.
leave_first() { :; }

# Nothing of ours stays: not the release, not its namespace, not the cluster.
leave() {
  local status=$?
  trap - EXIT
  leave_first || true
  local session
  for session in "${sessions[@]}"; do
    # It may not lead a group of its own yet.
    kill -- -"$session" 2>/dev/null || kill "$session" || true
    wait "$session" || true
  done
  if [ -n "$installed" ] && [ -z "$up" ]; then helm uninstall sluice --namespace "$namespace" --wait >/dev/null || true; fi
  if [ -n "$made" ] && [ -z "$up" ]; then kubectl delete namespace "$namespace" >/dev/null || true; fi
  [ -z "$up" ] || "$cluster/cluster" down
  summary
  case " ${became[*]} " in *' FAILED '*) [ $status -ne 0 ] || status=1 ;; esac
  if [ $status -eq 0 ]; then echo 'test: all is well'; else echo "test: FAILED ($status)"; fi
  echo "tests: $(counted)"
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
