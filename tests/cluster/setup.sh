#!/bin/bash
# setup.sh [PACKAGE…]: the Debian packages that the cluster, its programs and the images need, and those named. Installs what
# is missing, else does nothing.
set -eu
packages=(
  gcc libc6-dev make pkg-config libseccomp-dev          # runc and the sandbox holder are C
  iproute2 iptables nftables conntrack procps util-linux # the node's network and namespaces
  busybox-static python3 curl ca-certificates            # images, and a look at what runs in them
  "$@"
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "==> installing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
