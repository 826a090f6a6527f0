# shellcheck shell=sh
# A process that may not see every namespace believes none gone.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

afresh sight
pod living dead new
add living >/dev/null
add dead >/dev/null
unmounted dead
usleep 500000
# call_in COMMAND...: makes an ADD in a full range, where the address of a dead pod could be taken.
call_in() { "$@" /tests/call.sh ADD new; }

same "in a PID namespace of its own, as kind's nodes are" full "$(call_in unshare --pid -f --mount-proc)"
same "with a /proc that is not its own PID namespace's" full "$(call_in unshare --pid -f)"
same "in a user namespace" full "$(call_in unshare --user --map-root-user)"
mkdir -p /run/root
mount --bind / /run/root
for directory in dev run tmp; do mount --rbind "/$directory" "/run/root/$directory" 2>/dev/null; done
same "in a root directory without /proc" full "$(call_in chroot /run/root)"
umount -l /run/root
same "GC without a list, in a PID namespace of its own" "198.51.100.2 198.51.100.3" \
  "$(valid=null unshare --pid -f --mount-proc /tests/call.sh GC "" /proc/self/ns/net && held)"
same "who sees all takes it" 198.51.100.3 "$(add new)"
