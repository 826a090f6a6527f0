# shellcheck shell=sh
# Pods on each disk before the machine is switched off in good order.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

afresh before
pod a b
for name in $(disks); do
  mount_disk "$name"
  disk=/disk/$name
  data=$disk/kept
  same "$name: pods get addresses" "198.51.100.2 198.51.100.3 full" "$(add a) $(add b) $(add c /run/netns/b)"
  # The clock is two years ahead while pods start, and is then set right, to the second.
  data=$disk/ahead
  now=$(date +%s)
  date -s "@$((now + 63072000))" >/dev/null
  answers="$(add a) $(add b) $(add c /run/netns/b)"
  date -s "@$((now + 1))" >/dev/null
  same "$name: so they do while the clock is ahead" "198.51.100.2 198.51.100.3 full" "$answers"
  data=$disk/collected
  add a >/dev/null
  add b >/dev/null
done
# The clock may be this far ahead of the machine's own clock by now, which tells the next boot the time.
sleep 5
afresh end
