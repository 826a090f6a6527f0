#!/usr/bin/env bash
# Fetches the QuickJS library for the native executable where this Debian does not have it (before
# Debian 13), and unpacks it under build/quickjs without installing anything.
# shellcheck source=scripts/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

unpacked="$root/build/quickjs"
if [ -d "$unpacked" ]; then
  echo "The QuickJS library is in $unpacked already."
  exit 0
fi

open_suite trixie deb
unpack "$work/quickjs" libquickjs
mv "$work/quickjs" "$unpacked"
echo "The QuickJS library of Debian trixie is in $unpacked: $(basename "$work"/*.deb)"
