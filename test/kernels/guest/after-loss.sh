# shellcheck shell=sh
# The state in which a loss of power in a storm leaves each disk.
# shellcheck source=test/kernels/guest/testing.sh
. /tests/testing.sh

# contents: prints how many files of reservations are whole, empty and torn.
contents() {
  whole=0 empty=0 torn=0
  for file in "$data"/net/198.*; do
    [ -e "$file" ] || continue
    if [ -z "$(tr -d '\000' <"$file")" ]; then
      empty=$((empty + 1))
    elif [ "$(tr '\r\n' '. ' <"$file" | sed 's/^[a-z]*[0-9]*\. eth0$//')" = "" ]; then
      whole=$((whole + 1))
    else
      torn=$((torn + 1))
    fi
  done
  echo "$whole whole, $empty empty, $torn torn"
}

# filled NAME: hands out addresses until there are none, and prints one on each line.
filled() {
  count=0
  while address=$(add "$1$count" "/run/netns/a"); [ "$address" != full ] && [ "$count" -lt 15 ]; do
    echo "$address"
    count=$((count + 1))
  done
}

afresh after
pod a
# For this long, an empty file may belong to a Go plugin that is about to write it.
sleep 10
for name in $(disks); do
  mount_disk "$name"
  disk=/disk/$name
  data=$disk/full
  same "$name: kubelet's range is full" "198.51.100.2 198.51.100.3" "$(held)"
  same "$name: what was on the disk while kubelet went on asking is given again" "198.51.100.2 198.51.100.3" \
    "$(filled again | tr '\n' ' ' | sed 's/ $//')"
  data=$disk/storm
  range='"rangeStart": "198.51.100.2", "rangeEnd": "198.51.100.13"'
  mkdir -p "$data/net"
  left=$(contents)
  filled new >/tmp/given
  same "$name: no file is torn" 0 "$(echo "$left" | sed 's/.*, \([0-9]*\) torn/\1/')"
  same "$name: no address is given twice" "" "$(sort /tmp/given | uniq -d)"
  given=$(grep -c . /tmp/given)
  # Some whole files are in no journal: only GC with a list tells them from an administrator's.
  valid="[$(seq 0 "$((given - 1))" | sed 's/.*/{"containerID": "new&", "ifname": "eth0"}/' | paste -sd,)]"
  /tests/call.sh GC "" /proc/self/ns/net
  valid=
  filled later >>/tmp/given
  same "$name: after GC, each address is held once" "12 12" "$(grep -c . /tmp/given) $(sort -u /tmp/given | grep -c '^198')"
  say "# $name: left by the loss: $left; given by ADD alone: $given"
  range=
  unmount_disk "$name"
done
afresh end
