#!/usr/bin/env bash
# Fetches the QuickJS library for the native executable where this Debian does not have it (before
# Debian 13, or for another architecture), and unpacks it under build/quickjs, or
# build/quickjs-ARCHITECTURE, without installing anything.
# Usage: bash scripts/fetch/quickjs.sh [ARCHITECTURE], in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=${1:-}
unpacked="$root/build/quickjs${architecture:+-$architecture}"
if [ -d "$unpacked" ]; then
  echo "The QuickJS library is in $unpacked already."
  exit 0
fi

open_suite trixie deb
unpack "$work/quickjs" libquickjs
mv "$work/quickjs" "$unpacked"
echo "The QuickJS library of Debian trixie is in $unpacked: $(basename "$work"/*.deb)"
