# shellcheck shell=sh
# Pods come and go on each disk until the machine loses its power. Its file systems write their changes after a second, so
# that the loss comes while they write.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

afresh storm
pod a
modprobe xfs
for file in vm/dirty_expire vm/dirty_writeback fs/xfs/xfssyncd; do echo 100 >"/proc/sys/${file}_centisecs"; done

# retries DISK: plays a kubelet that goes on asking for an address of a full range, which is on the disk.
retries() {
  data=$1/full
  while :; do add "refused$((round = round + 1))" /run/netns/a >/dev/null; done
}

# pods DISK: pods fill a range of twelve, two are refused, and five end, again and again.
pods() {
  data=$1/storm
  range='"rangeStart": "198.51.100.2", "rangeEnd": "198.51.100.13"'
  next=0 last=0
  while :; do
    while [ "$((next - last))" -lt 14 ]; do add "storm$((next = next + 1))" /run/netns/a >/dev/null; done
    for each in 1 2 3 4 5; do del "storm$((last + each))" /run/netns/a; done
    last=$((last + each))
  done
}

for name in $(disks); do
  mount_disk "$name"
  [ "$name" = xfs ] || mount -o remount,commit=1 "/disk/$name"
  data=/disk/$name/full
  same "$name: pods get addresses" "198.51.100.2 198.51.100.3" "$(add a) $(add b /run/netns/a)"
done
sync
for disk in /disk/*; do
  pods "$disk" &
  retries "$disk" &
done
