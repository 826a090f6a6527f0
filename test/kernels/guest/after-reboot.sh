# shellcheck shell=sh
# The reservations that a reboot leaves on each disk belong to nobody.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

afresh after
pod c d e
for name in $(disks); do
  mount_disk "$name"
  disk=/disk/$name
  data=$disk/kept
  same "$name: reservations from before the boot are there" "198.51.100.2 198.51.100.3" "$(held)"
  same "$name: an ADD in the full range takes one after the other, and none of this boot" \
    "198.51.100.2 198.51.100.3 full" "$(add c) $(add d) $(add e)"
  data=$disk/ahead
  same "$name: so it does with those that were made while the clock was ahead" \
    "198.51.100.2 198.51.100.3 full" "$(add c) $(add d) $(add e)"
  data=$disk/collected
  same "$name: what GC is to release is there" "198.51.100.2 198.51.100.3" "$(held)"
  same "$name: GC without a list releases all" "" "$(gc null && held)"
done
afresh end
