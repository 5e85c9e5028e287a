#!/bin/bash
# another.sh NAME CMD…: runs a command as on another machine: `cluster` and `make` of it mean a cluster of that name, which may be up
# beside others. Its fixed addresses are free there, because the command is in a network namespace of its own; the cluster goes with it.
# Needs root.
set -eu
cluster=$(cd "$(dirname "$0")" && pwd)/cluster name=$1
shift
export CLUSTER_STATE=${CLUSTER_STATE:-/var/lib/sluice-cluster}-$name CLUSTER_GROUP=sluice-$name
export KUBECONFIG=$CLUSTER_STATE/kubeconfig
# shellcheck disable=SC2016 # the shell in the namespace evaluates it
exec unshare --net bash -c '
  cluster=$1
  shift
  trap "\"\$cluster\" down" EXIT
  trap "exit 130" INT TERM
  ip link set lo up
  "$@"' bash "$cluster" "$@"
