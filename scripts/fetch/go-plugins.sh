#!/usr/bin/env bash
# Fetches the newest Go CNI plugins that Debian has, to compare with and to test beside, and unpacks
# them under build/go-plugins, or build/go-plugins-ARCHITECTURE, without installing anything. Nothing
# happens where they exist already. Usage: bash scripts/fetch/go-plugins.sh [ARCHITECTURE], in
# Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=${1:-}
unpacked="$root/build/go-plugins${architecture:+-$architecture}"
if [ -x "$unpacked/usr/lib/cni/host-local" ]; then
  echo "The Go plugins are in $unpacked already."
  exit 0
fi

open_suite unstable deb
unpack "$work/plugins" containernetworking-plugins
rm -rf "$unpacked"
mv "$work/plugins" "$unpacked"
echo "The Go plugins of Debian unstable are in $unpacked: $(basename "$work"/*.deb)"
