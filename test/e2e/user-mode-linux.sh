#!/bin/bash
# Runs a command as root in a virtual machine with a kernel of its own, Debian's user-mode Linux, on this
# machine's file system, with the same environment and without a network. When it has ended, prints what
# it printed, and ends with its status. It is for network interfaces that the kernel here does not make.
#
# Usage: user-mode-linux.sh LAYERS COMMAND [ARGUMENT...]
#
#   LAYERS   the directory of the layers user-mode-linux and runc of `npm run fetch -- clients user-mode-linux`
set -euo pipefail

layers=$1
shift
# The file descriptors of this process are not those of the machine.
unset NODE_CHANNEL_FD
linux="$layers/user-mode-linux/usr/bin/linux.uml"
busybox="$layers/runc/usr/bin/busybox"
modules=$(echo "$layers"/user-mode-linux/usr/lib/uml/modules/*)
scratch=$(mktemp -d)
guest=
# Signals of the terminal do not reach the guest, as `timeout` gives it a process group of its own.
# shellcheck disable=SC2317 # the trap runs it
finish() {
  if [ -n "$guest" ] && kill "$guest" 2>/dev/null; then wait "$guest" || true; fi
  rm -rf "$scratch"
}
trap finish EXIT

# Prints the files of a module, those that it needs before it.
files_of() {
  awk -F '[: ]+' -v "file=/$1.ko" 'index($1, file) { for (i = NF; i > 0; i--) if ($i != "") print $i }' \
    "$modules/modules.dep"
}

# Prints words so that a shell reads them as they are.
quoted() {
  printf '%q ' "$@"
}

cat >"$scratch/init" <<END
#!/bin/bash
$(export -p)
cd $(quoted "$PWD")
mount -t proc proc /proc
mount -t sysfs sysfs /sys
$(for module in overlay veth bridge macvlan ipvlan 8021q dummy tun; do
  files_of "$module"
done | uniq | while read -r file; do
  quoted "$busybox" insmod "$modules/$file"
  echo
done)
$(quoted "$@") >$(quoted "$scratch/stdout") 2>$(quoted "$scratch/stderr")
echo \$? >$(quoted "$scratch/status")
$(quoted "$busybox") poweroff -f
END
chmod +x "$scratch/init"

# Some minutes are enough for any test.
timeout --kill-after 5 600 "$linux" rootfstype=hostfs rw "init=$scratch/init" mem=1G quiet \
  "uml_dir=$scratch/" con=null con0=null,fd:1 </dev/null >"$scratch/console" 2>&1 &
guest=$!
wait "$guest" || true
guest=
[ -s "$scratch/status" ] || cat "$scratch/console" >&2
cat "$scratch/stdout"
cat "$scratch/stderr" >&2
exit "$(cat "$scratch/status")"
