#!/bin/busybox sh
# The first process of an emulated machine: mounts what a node has, and the disks by their names, runs the tests that the
# kernel's command line names (`tests=life,records`), and switches the machine off.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /run/netns
ip link set lo up
depmod -a
for module in virtio_pci virtio_blk veth; do modprobe "$module"; done

# The first serial line has what the kernel says. Neither turns the end of a line into two characters.
stty -F /dev/ttyS1 -opost
exec >/dev/ttyS1 2>&1
echo "# kernel $(uname -r)"
# shellcheck disable=SC2154 # the kernel sets it
for file in $(echo "$tests" | tr , ' '); do
  echo "# file: $file"
  : >/tmp/results
  # shellcheck source=/dev/null
  (. "/tests/$file.sh")
  passed=$(grep -c '^ok' /tmp/results)
  failed=$(grep -c '^not ok' /tmp/results)
  echo "# { total: $((passed + failed)), pass: $passed, fail: $failed }"
done
echo "# end"
poweroff -f
