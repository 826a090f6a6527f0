#!/usr/bin/env bash
# Runs a command, such as tests, on a machine on which others have CNI networks: podman's list and another one's, plugins,
# libcni's cache and reservations are where they usually are, and our plugin was replaced. They exist in a mount namespace
# of that command alone. Needs root.
#
# Usage: bash scripts/test/inhabited.sh COMMAND...
set -euo pipefail

if [ "${HOST_LOCAL_INHABITED-}" != yes ]; then
  HOST_LOCAL_INHABITED=yes exec unshare --mount --propagation private bash "$0" "$@"
fi
unset HOST_LOCAL_INHABITED

layers=$(mktemp -d)
mount -t tmpfs tmpfs "$layers"
for directory in etc opt usr var/lib; do
  mkdir -p "$layers/$directory/upper" "$layers/$directory/work"
  mount -t overlay overlay "/$directory" \
    -o "lowerdir=/$directory,upperdir=$layers/$directory/upper,workdir=$layers/$directory/work"
done

# list FILE NAME SUBNET
list() {
  mkdir -p /etc/cni/net.d
  cat >"/etc/cni/net.d/$1" <<LIST
{
  "cniVersion": "0.4.0",
  "name": "$2",
  "plugins": [
    { "type": "bridge", "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$3", "gateway": "${3%0/*}1" }]] } }
  ]
}
LIST
}

list 87-podman-bridge.conflist podman 10.88.0.0/16
list 10-other.conflist other 10.244.7.0/24
echo '{' >/etc/cni/net.d/99-broken.conf

for directory in /opt/cni/bin /usr/libexec/cni; do
  mkdir -p "$directory"
  for plugin in bridge host-local; do
    printf '#!/bin/sh\necho '\''{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'\''\n' >"$directory/$plugin"
    chmod 755 "$directory/$plugin"
  done
done
# Ours was installed there, and another took its place.
"$(dirname "$0")/../../dist/native/host-local" install /opt/cni/bin --force --yes >/dev/null
cp /usr/libexec/cni/host-local /opt/cni/bin/host-local

mkdir -p /var/lib/cni/networks/podman /var/lib/cni/results
printf 'deadbeef\r\neth0' >/var/lib/cni/networks/podman/10.88.0.2
echo 10.88.0.2 >/var/lib/cni/networks/podman/last_reserved_ip.0
echo '{"kind":"cniCacheV1","containerId":"deadbeef","ifName":"eth0","networkName":"podman"}' \
  >/var/lib/cni/results/podman-deadbeef-eth0

exec "$@"
