# shellcheck shell=sh
# Addresses that are seen to be in use although nothing reserves them: the kernel tells, without a path or a process.
# The node is a network namespace of its own here: the machine's own stays as it is.
if [ -z "$in_node" ]; then
  export in_node=1
  unshare --net sh -c '. /tests/linked.sh'
  return
fi
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh
for module in veth bridge macvlan; do modprobe "$module" 2>/dev/null; done
ip link set lo up

# in_use NAME: begins a test in which the pod `p` has 198.51.100.2, one of two addresses for an ADD of the pod `new`.
in_use() {
  afresh "linked-$1"
  for interface in node0 inner0 cni0; do ip link del "$interface" 2>/dev/null; done
  pod p new
  in_pod p sleep 1000
  pod_process=$process
}

# of_pod COMMAND...: runs a command in the namespace of the pod.
of_pod() { nsenter --net=/run/netns/p "$@"; }

# configure: configures the interface of the pod.
configure() {
  of_pod ip addr add 198.51.100.2/24 dev eth0
  of_pod ip link set eth0 up
}

# veth NAME PROCESS: makes a link from this namespace to eth0 in a process's, as ptp does. The kernel names the other end.
veth() {
  ip link add name "$1" type veth
  ip link set veth0 name eth0
  ip link set eth0 netns "$2"
  ip link set "$1" up
}

# macvlan: gives the pod a macvlan. It comes through another namespace, since a move names the target; the plugin makes it
# in place.
macvlan() {
  pod other
  in_pod other sleep 1000
  ip link add link lan0 name eth0 type macvlan
  ip link set eth0 netns "$process"
  nsenter --net=/run/netns/other ip link set eth0 netns "$pod_process"
}

# seen NAME, unseen NAME: whether an ADD of another pod sees the address.
seen() { same "$1: seen" 198.51.100.3 "$(add new)"; }
unseen() { same "$1: not seen" 198.51.100.2 "$(add new)"; }

in_use ptp
veth node0 "$pod_process"
configure
seen "a pod of ptp"

in_use bridge
ip link add name cni0 type bridge
ip link set cni0 up
veth node0 "$pod_process"
ip link set node0 master cni0
configure
seen "a pod of bridge"

in_use descriptor
veth node0 "$pod_process"
configure
exec 9</run/netns/p
unmounted p
kill "$pod_process"
wait "$pod_process" 2>/dev/null
seen "a pod whose network namespace only an open file has"
exec 9<&-

in_use user
unmounted p
unshare --user --map-root-user --net sleep 1000 &
pod_process=$!
until [ "$(readlink "/proc/$pod_process/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do usleep 10000; done
: >/run/netns/p
mount --bind "/proc/$pod_process/ns/net" /run/netns/p
veth node0 "$pod_process"
configure
seen "a pod of another user namespace"

ip link add name lan0 type veth
ip link set veth0 name lan1
ip link set lan0 up

in_use macvlan
macvlan
configure
unseen "a pod of macvlan for which no ADD of this plugin was called"

in_use macvlan-since-add
macvlan
data=/tmp/data/lost add p >/dev/null
rm -r /tmp/data/lost
configure
seen "a pod of macvlan since its ADD, whatever became of its reservation"

# moved: moves the interface of one pod, with the address, to the other pod, where it is down.
moved() {
  in_use "moved-$1"
  pod former
  in_pod former sleep 1000
  veth node0 "$process"
  nsenter --net=/run/netns/former ip link set eth0 netns "$pod_process"
  of_pod ip addr add 198.51.100.2/24 dev eth0
}

moved down
unseen "an interface of ptp that was moved to a namespace without an ADD, and is down"

moved up
of_pod ip link set eth0 up
seen "the same, once it is up"

in_use node
ip addr add 198.51.100.2/32 dev lo
seen "an address of the node itself"
ip addr del 198.51.100.2/32 dev lo

in_use unprivileged
veth node0 "$pod_process"
configure
same "who lacks CAP_NET_ADMIN on the node does not see it" 198.51.100.2 \
  "$(unshare --user --map-root-user /tests/call.sh ADD new)"
same "though it is there" 198.51.100.2 "$(of_pod ip addr show dev eth0 | sed -n 's/.*inet \([0-9.]*\).*/\1/p')"

# A dead pod has left a reservation, and its interface is in another namespace, and down.
in_use dead
pod former living
add former >/dev/null
add living >/dev/null
macvlan
of_pod ip addr add 198.51.100.2/24 dev eth0
same "the interface of a dead pod is in a namespace that nothing links" 1 "$(of_pod ip addr show dev eth0 | grep -c 'inet 198.51.100.2/')"
unmounted former
usleep 500000
same "its address is not taken" full "$(add new)"
same "nor by GC" "198.51.100.2 198.51.100.3" "$(gc null && held)"
kill "$pod_process"
wait "$pod_process" 2>/dev/null
unmounted p
at_last "until that namespace has ended" 198.51.100.2 add new

# The node `inner` is a container. Its pod is linked with it, and it with the outer node.
in_use inner
pod inner
in_pod inner sleep 1000
veth inner0 "$process"
of_inner() { nsenter --net=/run/netns/inner "$@"; }
of_inner ip link set eth0 up
of_inner ip link add name node0 type veth
of_inner ip link set veth0 netns "$pod_process"
of_inner ip link set node0 up
of_pod ip link set veth0 name eth0
configure
unseen "a pod of a node that is a container, asked on the outer node"
rm -r "$data"
mkdir "$data"
ip addr add 198.51.100.3/32 dev lo
same "asked within that node: its pod and the outer node's own address are seen" full "$(of_inner /tests/call.sh ADD new)"
afresh linked-end
