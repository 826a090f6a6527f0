# shellcheck shell=sh
# The tests of an emulated machine source this: their output, pods and their network namespaces.
export data range pod valid

# say LINE: prints a result, or its explanation.
say() {
  echo "$1" >>/tmp/results
  echo "$1"
}

# same NAME EXPECTED FOUND
same() {
  if [ "$2" = "$3" ]; then
    say "ok - $1"
  else
    say "not ok - $1"
    say "    expected: $2"
    say "    found:    $3"
    tail -n 5 /tmp/stderr
  fi
  : >/tmp/stderr
}

# at_last NAME EXPECTED COMMAND...: expects this output within some seconds: the kernel removes a namespace some time later.
at_last() {
  name=$1 expected=$2
  shift 2
  tries=50
  until found=$("$@") && [ "$found" = "$expected" ] || [ "$tries" = 0 ]; do
    tries=$((tries - 1))
    usleep 100000
  done
  same "$name" "$expected" "$found"
}

# Whether the kernel gives handles of namespaces.
has_handles() {
  uname -r | awk -F. '{ exit !($1 > 6 || ($1 == 6 && $2 >= 18)) }'
}

add() { /tests/call.sh ADD "$@"; }
del() { /tests/call.sh DEL "$@"; }

# gc LIST: makes a GC with a list of containers in JSON, or null.
gc() { valid=$1 /tests/call.sh GC "" /proc/self/ns/net; }

# held: prints the reserved addresses, with spaces between them.
held() {
  (cd "$data/net" && for file in 198.*; do [ ! -e "$file" ] || echo "$file"; done) | sort | tr '\n' ' ' | sed 's/ $//'
}

# pod NAME...: makes the network namespace of each pod, mounted as a runtime does.
pod() {
  for name; do
    : >"/run/netns/$name"
    unshare --net="/run/netns/$name" true
  done
}

# unmounted NAME...: unmounts a namespace as a runtime does when a pod ends, whoever has it open.
unmounted() {
  for name; do umount -l "/run/netns/$name" && rm -f "/run/netns/$name"; done
}

# in_pod NAME COMMAND...: starts a process in the namespace of a pod, which stays; $process is its id.
in_pod() {
  name=$1
  shift
  nsenter --net="/run/netns/$name" "$@" &
  process=$!
  until [ "$(readlink "/proc/$process/ns/net")" = "net:[$(number_of "/run/netns/$name")]" ]; do usleep 10000; done
}

# number_of PATH: prints the number of a namespace.
number_of() { stat -L -c %i "$1"; }

# take_number NUMBER NAME: mounts a namespace with the number of one that is gone, unless the kernel gives it to none of many.
take_number() {
  count=60
  until [ -e "/run/netns/$2" ] || [ "$count" = 0 ]; do
    pod "other$count"
    [ "$(number_of "/run/netns/other$count")" != "$1" ] || mount_as "other$count" "$2"
    count=$((count - 1))
    usleep 20000
  done
  for path in /run/netns/other*; do unmounted "$(basename "$path")"; done
  [ -e "/run/netns/$2" ]
}

# mount_as NAME OTHER: mounts the namespace of a pod at another path, too.
mount_as() {
  : >"/run/netns/$2"
  mount --bind "/run/netns/$1" "/run/netns/$2"
}

# afresh NAME: begins with a new data directory, and without the pods of former tests.
afresh() {
  # shellcheck disable=SC2046 # words
  kill -9 $(jobs -p) 2>/dev/null
  for path in /run/netns/*; do
    umount -l "$path" 2>/dev/null
    rm -f "$path"
  done
  data=/tmp/data/$1
  mkdir -p "$data"
  : >/tmp/stderr
}

# disks: prints the names of the disks; each begins with the name of its file system, such as ext4-cut-1.
disks() {
  for device in /sys/block/vd*; do
    cat "$device/serial"
    echo
  done
}

# mount_disk NAME: mounts a disk below /disk.
mount_disk() {
  for device in /sys/block/vd*; do
    [ "$(cat "$device/serial")" = "$1" ] || continue
    mkdir -p "/disk/$1"
    modprobe "${1%%-*}" 2>/dev/null
    mount -t "${1%%-*}" "/dev/${device##*/}" "/disk/$1" || say "not ok - $1 is mounted"
  done
}

# unmount_disk NAME: unmounts a disk, so that another with the same identity, such as a copy, can be mounted.
unmount_disk() {
  umount "/disk/$1"
  # Btrfs remembers the newest state of each disk.
  [ "${1%%-*}" != btrfs ] || rmmod btrfs
}
