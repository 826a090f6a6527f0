# shellcheck shell=sh
# Containers that look dead keep or lose their addresses: by the handle of a network namespace, where the kernel gives
# one (Linux 6.18 and later), and else by processes and mounts.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

# by_handle ANSWER OTHER: prints the expectation for this kernel: the first with handles, else the second.
by_handle() { if has_handles; then echo "$1"; else echo "$2"; fi; }

# two_pods NAME: adds two pods, which take the only two addresses of a network.
two_pods() {
  afresh "$1"
  pod living dead new
  add living >/dev/null
  add dead >/dev/null
}

# new: prints what the next pod gets.
new() { add new; }

# collected: prints the addresses that are held after a GC without a list.
collected() {
  gc null
  held
}

two_pods record
form=$(by_handle "$(number_of /run/netns/dead),N" "$(number_of /run/netns/dead)")
same "a record has the handle of the namespace, where the kernel gives one" "dead eth0 $form pod /run/netns/dead" \
  "$(awk '$1 == "dead" { sub(/,[0-9]+$/, ",N", $5); print $1, $2, $5, $6, $7 }' "$data/.host-local/net/journal")"

two_pods gone
same "of living pods none gives way" full "$(new)"
unmounted dead
at_last "ADD in a full range takes the address of a pod that is gone" 198.51.100.3 new
same "and then no other" full "$(add another /run/netns/new)"

two_pods collected
unmounted dead
at_last "GC without a list releases the pod that is gone, and no other" 198.51.100.2 collected

two_pods listed
same "GC whose list lacks them keeps pods that live" "198.51.100.2 198.51.100.3" "$(gc '[]' && held)"

two_pods foreign
number=$(number_of /run/netns/dead)
unmounted dead
if take_number "$number" foreign; then
  same "of a pod whose number another's namespace has" "$(by_handle 198.51.100.3 full)" "$(new)"
  unmounted foreign
  same "and once that has ended" "$(by_handle full 198.51.100.3)" "$(add another /run/netns/new)"
else
  say "ok - of a pod whose number another's namespace has # SKIP the kernel gave the number to none of 60 namespaces"
fi

two_pods heir
number=$(number_of /run/netns/dead)
unmounted dead
unmounted new
if take_number "$number" new; then
  same "the number of a pod that is gone may be that of the one which is being started" 198.51.100.3 "$(new)"
else
  say "ok - the number is that of the pod which is being started # SKIP the kernel gave it to none of 60 namespaces"
fi

two_pods process
in_pod dead sleep 1000
unmounted dead
same "a process keeps a namespace alive that is unmounted" full "$(new)"
same "for GC, too" "198.51.100.2 198.51.100.3" "$(collected)"
kill "$process"
at_last "until it ends" 198.51.100.3 new

two_pods elsewhere
: >/run/elsewhere
mount --bind /run/netns/dead /run/elsewhere
unmounted dead
same "so does a mount at another path" full "$(new)"
umount /run/elsewhere
at_last "until it is unmounted" 198.51.100.3 new

two_pods bytes
name=$(printf '\260')
mkdir -p /run/bytes
mount -t tmpfs "$name" /run/bytes
: >/run/bytes/pod
mount --bind /run/netns/dead /run/bytes/pod
unmounted dead
same "also in a file system whose name is no text" full "$(new)"
umount /run/bytes/pod
umount /run/bytes

two_pods descriptor
exec 9</run/netns/dead
unmounted dead
same "of a pod whose namespace only an open file has" "$(by_handle full 198.51.100.3)" "$(new)"
exec 9<&-

two_pods socket
nsenter --net=/run/netns/dead ip link set lo up
: >/run/home
mount --bind /proc/self/ns/net /run/home
# The process of this command keeps only the accepted connection of the namespace.
nsenter --net=/run/netns/dead nc -l -p 1 -e /tests/elsewhere.sh &
until nsenter --net=/run/netns/dead grep -q ':0001 .* 0A ' /proc/net/tcp /proc/net/tcp6; do usleep 50000; done
nsenter --net=/run/netns/dead nc 127.0.0.1 1 </dev/null >/tmp/nc &
client=$!
until [ -s /tmp/nc ] && grep -q here /tmp/nc; do usleep 50000; done
kill "$client"
socket=$(sed 's/here //' /tmp/nc)
unmounted dead
usleep 300000
same "who has only a socket of the namespace is in another one" "$(readlink /proc/self/ns/net)" "$(readlink "/proc/$socket/ns/net")"
case $(uname -r) in
6.18.*) expected=full ;;
*) expected=198.51.100.3 ;;
esac
same "of a pod whose namespace only a socket has" "$expected" "$(new)"
kill "$socket"
umount /run/home

afresh shared
pod first new
mount_as first second
add first >/dev/null
add second >/dev/null
unmounted first
same "two containers have one namespace: neither gives way, whose path is gone or not" full "$(new)"

two_pods chain
nsenter --net=/run/netns/dead /tests/chain.sh &
until [ -s /tmp/chain ]; do usleep 10000; done
unmounted dead
answers=$(for round in 1 2 3 4 5 6 7 8; do add "new$round" /run/netns/new; done | sort | uniq -c | tr -s ' ')
same "processes that hand a namespace over, each ending at once, keep it" " 8 full" "$answers"
same "for GC, too" "198.51.100.2 198.51.100.3" "$(collected)"
touch /tmp/chain-ends
at_last "until the last has ended" 198.51.100.3 new

two_pods unlisted
mkdir -p /run/own
mount -t tmpfs tmpfs /run/own
mount --make-private /run/own
: >/run/own/mounts
# Linux 6.18 numbers namespaces for each processor, and refuses to mount a mount namespace whose number is below its own.
until nsenter --mount=/run/own/mounts true 2>/dev/null; do unshare --mount=/run/own/mounts true 2>/dev/null; done
nsenter --mount=/run/own/mounts sh -c ': >/run/netns/hidden; unshare --net=/run/netns/hidden true'
del dead
nsenter --mount=/run/own/mounts /tests/call.sh ADD hidden >/dev/null
same "mounted only where no process runs, its path is a file here" "198.51.100.2 198.51.100.3 regular empty file" \
  "$(held) $(stat -c %F /run/netns/hidden)"
same "a namespace keeps its address, though nobody here sees it" full "$(new)"
same "for GC, too" "198.51.100.2 198.51.100.3" "$(collected)"
umount /run/own/mounts
umount /run/own

two_pods users
unshare --user --map-root-user --net sleep 1000 &
process=$!
until [ "$(readlink /proc/$process/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do usleep 10000; done
del dead
: >/run/netns/users
mount --bind "/proc/$process/ns/net" /run/netns/users
add users >/dev/null
unmounted users
same "a namespace of another user namespace (hostUsers: false) lives by its process" full "$(new)"
kill "$process"
at_last "until that ends" 198.51.100.3 new

afresh end
