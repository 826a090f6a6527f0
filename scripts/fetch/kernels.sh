#!/usr/bin/env bash
# Fetches what `npm run test:kernels` boots: Debian's kernels for virtual machines, one of each suite, and the emulator with
# all its libraries. A suite that the mirror no longer has is named, and done without.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

fetched="$root/build/kernels"

# fetch_kernel SUITE: its newest kernel; since Linux 7 it is in packages of its own.
fetch_kernel() {
  local image parts
  open_suite "$1" deb
  image=$(depends '^linux-image-[0-9]' linux-image-cloud-amd64)
  [ -n "$image" ] || give_up "Debian $1 does not say which kernel is its newest."
  mapfile -t parts < <(depends '^linux-(binary|modules)-[0-9]' "$image")
  unpack "$work/unpacked" "$image" "${parts[@]}"
  what="$image of Debian $1"
}

# fetch_emulator: with all that it is linked with, so that nothing has to be installed; busybox is the emulated machine's.
fetch_emulator() {
  local packages
  open_suite "$(own_suite)" deb
  mapfile -t packages < <(apt-get "${options[@]}" install --simulate --no-install-recommends qemu-system-x86 busybox-static \
    2>>"$log" | awk '$1 == "Inst" { print $2 }')
  [ "${#packages[@]}" -gt 0 ] || give_up "apt does not say what qemu-system-x86 needs; see $log."
  unpack "$work/unpacked" "${packages[@]}"
  what="qemu-system-x86, busybox-static and their ${#packages[@]} packages"
}

# keep NAME COMMAND [ARGUMENT...]: what a command unpacks, and names in $what, is kept under the name, unless it is there.
keep() {
  if [ -d "$fetched/$1" ]; then
    echo "$fetched/$1 is there already."
    return
  fi
  "${@:2}"
  mkdir -p "$fetched"
  mv "$work/unpacked" "$fetched/$1"
  echo "$fetched/$1 has $what."
}

keep emulator fetch_emulator
for suite in bullseye bookworm trixie unstable; do (keep "$suite" fetch_kernel "$suite") || true; done
