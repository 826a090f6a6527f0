#!/bin/busybox sh
# shellcheck shell=dash
# The first process of an emulated machine: mounts what a node has, runs the tests that the kernel's command line names
# (`tests=life,records`), and switches the machine off.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
ip link set lo up
depmod -a
# Some kernels have these modules built in.
for module in virtio_pci virtio_blk; do modprobe "$module" 2>/dev/null; done

# The first serial line has the kernel's messages. Neither line may turn the end of a line into two characters.
stty -F /dev/ttyS1 -opost
exec </dev/null >/dev/ttyS1 2>&1
# shellcheck disable=SC2154 # the kernel sets it
/tests/run.sh "$tests"
# A storm goes on until the power is lost.
if [ "${tests##*,}" = storm ]; then
  echo "# storm"
  exec sleep 1000000
fi
umount /disk/* 2>/dev/null
poweroff -f
