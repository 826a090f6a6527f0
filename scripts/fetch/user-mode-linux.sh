#!/usr/bin/env bash
# Fetches a kernel that makes the interfaces of every main plugin, for machines whose own does not: `npm run
# test:clients` then runs its scenarios in it.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

unpacked="$root/build/clients/user-mode-linux"
if [ -d "$unpacked" ]; then
  echo "The kernel is in $unpacked already."
  exit 0
fi
open_suite bookworm deb
unpack "$work/unpacked" user-mode-linux
mkdir -p "$(dirname "$unpacked")"
mv "$work/unpacked" "$unpacked"
echo "The kernel is in $unpacked: $(basename "$work"/user-mode-linux_*.deb)"
