#!/usr/bin/env bash
# Fetches the newest Go CNI plugins that Debian has, to compare with and to test beside, and unpacks
# them under build/go-plugins without installing anything. Nothing happens where they exist already.
# shellcheck source=scripts/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

unpacked="$root/build/go-plugins"
if [ -x "$unpacked/usr/lib/cni/host-local" ]; then
  echo "The Go plugins are in $unpacked already."
  exit 0
fi

open_suite unstable deb
unpack "$work/plugins" containernetworking-plugins
rm -rf "$unpacked"
mv "$work/plugins" "$unpacked"
echo "The Go plugins of Debian unstable are in $unpacked: $(basename "$work"/*.deb)"
