#!/usr/bin/env bash
# Runs a command, such as tests, from the top of the repository where others would. Needs root; what is made for it exists
# in namespaces and temporary directories, but for the interface of `addresses`, and as long as it runs.
#
# Usage: bash scripts/test/elsewhere.sh PLACE COMMAND...
#
#   user        an ordinary user, with a copy of the repository and a home of its own
#   container   root in namespaces of its own, with the capabilities that Docker gives
#   young       a machine that has been up for 90 seconds
#   old         one that has been up for 400 days
#   addresses   a machine with 10.0.0.3, as cloud networks give it
#   holder      a machine with a container that has 10.0.0.3, and a namespace that is covered by another mount
#   spaces      paths with a space and a comma
#   inhabited   a machine with the networks of others: podman's list and another one's, plugins, libcni's cache and
#               reservations are where they usually are, our plugin was replaced, and runtimes say that they read others
set -euo pipefail

place=$1
shift

# What is mounted goes with a mount namespace, and then the directory can.
if [ "${HOST_LOCAL_ELSEWHERE-}" = "" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  chmod 755 "$scratch"
  HOST_LOCAL_ELSEWHERE=$scratch unshare --mount --propagation private bash "$0" "$place" "$@"
  exit
fi
scratch=$HOST_LOCAL_ELSEWHERE
unset HOST_LOCAL_ELSEWHERE

# A copy of the repository, as it is, at a path below the temporary directory.
copy() {
  mkdir -p "$(dirname "$scratch/$1")"
  cp -a . "$scratch/$1"
  cd "$scratch/$1"
}

# up SECONDS COMMAND...
up() {
  local seconds=$(($1 - $(cut -d. -f1 /proc/uptime)))
  shift
  unshare --time --boottime "$seconds" --fork "$@"
}

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

# Puts there what others have.
inhabit() {
  local layers=$scratch/layers
  mkdir "$layers"
  mount -t tmpfs tmpfs "$layers"
  for directory in etc opt usr var/lib; do
    mkdir -p "$layers/$directory/upper" "$layers/$directory/work"
    mount -t overlay overlay "/$directory" \
      -o "lowerdir=/$directory,upperdir=$layers/$directory/upper,workdir=$layers/$directory/work"
  done

  list 87-podman-bridge.conflist podman 10.88.0.0/16
  list 10-other.conflist other 10.244.7.0/24
  echo '{' >/etc/cni/net.d/99-broken.conf
  mkdir -p /etc/containerd /etc/crio
  printf '[plugins.cri.cni]\nbin_dir = "/opt/nothing"\nconf_dir = "/etc/nothing"\n' >/etc/containerd/config.toml
  echo '{' >/etc/crio/crio.conf

  for directory in /opt/cni/bin /usr/libexec/cni; do
    mkdir -p "$directory"
    for plugin in bridge host-local; do
      printf '#!/bin/sh\necho '\''{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'\''\n' >"$directory/$plugin"
      chmod 755 "$directory/$plugin"
    done
  done
  # Ours was installed there, and another took its place.
  dist/native/host-local install /opt/cni/bin --force --yes >/dev/null
  cp /usr/libexec/cni/host-local /opt/cni/bin/host-local

  mkdir -p /var/lib/cni/networks/podman /var/lib/cni/results
  printf 'deadbeef\r\neth0' >/var/lib/cni/networks/podman/10.88.0.2
  echo 10.88.0.2 >/var/lib/cni/networks/podman/last_reserved_ip.0
  echo '{"kind":"cniCacheV1","containerId":"deadbeef","ifName":"eth0","networkName":"podman"}' \
    >/var/lib/cni/results/podman-deadbeef-eth0
}

case $place in
user)
  copy repository
  mkdir "$scratch/home" "$scratch/tmp"
  chown -R 65534:65534 . "$scratch/home" "$scratch/tmp"
  setpriv --reuid 65534 --regid 65534 --clear-groups \
    env -i HOME="$scratch/home" TMPDIR="$scratch/tmp" LANG=C.UTF-8 npm_config_update_notifier=false \
    PATH="$(dirname "$(command -v npm)"):/usr/local/bin:/usr/bin:/bin" "$@"
  ;;
container)
  capabilities=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw
  capabilities+=,+sys_chroot,+mknod,+audit_write,+setfcap
  # shellcheck disable=SC2016 # the shell inside has the parameters
  unshare --pid --fork --kill-child --mount-proc --uts --ipc --net --cgroup sh -c \
    'ip link set lo up; set=$1; shift; exec setpriv --bounding-set "$set" --inh-caps "$set" "$@"' sh "$capabilities" "$@"
  ;;
young) up 90 "$@" ;;
old) up 34560000 "$@" ;;
addresses)
  # In the network namespace of the node: elsewhere, what lives on it is not seen as the node sees it.
  ip link add host-local-vpc type bridge
  trap 'ip link delete host-local-vpc' EXIT
  ip address add 10.0.0.3/16 dev host-local-vpc
  ip link set host-local-vpc up
  "$@"
  ;;
holder)
  unshare --net sh -c 'ip link set lo up && ip address add 10.0.0.3/32 dev lo && exec sleep infinity' &
  # shellcheck disable=SC2064 # that of now
  trap "kill $!" EXIT
  : >"$scratch/pod"
  : >"$scratch/other"
  unshare --net="$scratch/pod" true
  mount --bind "$scratch/other" "$scratch/pod"
  "$@"
  ;;
spaces)
  copy "a b, c/repository"
  mkdir "$scratch/t t"
  TMPDIR="$scratch/t t" "$@"
  ;;
inhabited)
  inhabit
  "$@"
  ;;
*)
  echo "expected a place, found $place" >&2
  exit 2
  ;;
esac
