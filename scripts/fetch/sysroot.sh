#!/usr/bin/env bash
# Fetches the C library of another architecture, with its security updates, to link the native executable with, and unpacks
# it under build/sysroot-ARCHITECTURE without installing anything: that of Debian's cross compilers gets no updates.
# Usage: bash scripts/fetch/sysroot.sh ARCHITECTURE, in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=$1
suite=$(own_suite)
# Debian 12 has no riscv64.
[ "$suite $architecture" != "bookworm riscv64" ] || suite=trixie
fetch_into "$root/build/sysroot-$architecture" --updates "$suite" libc6-dev linux-libc-dev
