#!/usr/bin/env bash
# Fetches the C library of another architecture, with its security updates, to link the native executable with, and unpacks
# it under build/sysroot-ARCHITECTURE without installing anything: that of Debian's cross compilers gets no updates.
# Usage: bash scripts/fetch/sysroot.sh ARCHITECTURE, in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=$1
unpacked="$root/build/sysroot-$architecture"
if [ -d "$unpacked" ]; then
  echo "The C library is in $unpacked already."
  exit 0
fi

suite=$(own_suite)
# Debian 12 has no riscv64.
[ "$suite $architecture" != "bookworm riscv64" ] || suite=trixie
open_suite "$suite" deb
add_updates "$suite" deb
unpack "$work/sysroot" libc6-dev linux-libc-dev
mv "$work/sysroot" "$unpacked"
echo "The C library of Debian $suite is in $unpacked: $(basename "$work"/libc6-dev_*.deb)"
