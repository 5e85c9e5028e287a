#!/bin/bash
# stop.sh: in the node, ends what start.sh started. Ten seconds for each to end by itself.
set -eu
run=/run/gitops # start.sh knows it too

ended() { ! kill -0 "$1" 2>/dev/null; }

[ -e $run ] || exit 0
for file in "$run"/*.pid; do kill "$(cat "$file")" 2>/dev/null || true; done
for file in "$run"/*.pid; do
  pid=$(cat "$file")
  for _ in $(seq 100); do
    if ended "$pid"; then break; fi
    sleep 0.1
  done
  ended "$pid" || kill -9 "$pid"
done
rm -r $run
