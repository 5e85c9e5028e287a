#!/bin/bash
# stop.sh RUN: in the node, ends the programs whose ids are in RUN/*.pid. Ten seconds for each to end by itself.
set -eu
run=$1

ended() { ! kill -0 "$1" 2>/dev/null; }

[ -e "$run" ] || exit 0
for file in "$run"/*.pid; do kill "$(cat "$file")" 2>/dev/null || true; done
for file in "$run"/*.pid; do
  pid=$(cat "$file")
  for _ in $(seq 100); do
    if ended "$pid"; then break; fi
    sleep 0.1
  done
  ended "$pid" || kill -9 "$pid"
done
rm -r "$run"
