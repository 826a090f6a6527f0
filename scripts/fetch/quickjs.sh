#!/usr/bin/env bash
# Fetches the QuickJS library for the native executable where this Debian does not have it (before
# Debian 13, or for another architecture), and unpacks it under build/quickjs, or
# build/quickjs-ARCHITECTURE, without installing anything. With HOST_LOCAL_QUICKJS_DIR it takes the
# package in that directory whose library is pinned, whatever Debian has by now.
# Usage: bash scripts/fetch/quickjs.sh [ARCHITECTURE], in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=${1:-}
unpacked="$root/build/quickjs${architecture:+-$architecture}"
packages=${HOST_LOCAL_QUICKJS_DIR:-}
if [ -z "$packages" ] && [ -d "$unpacked" ]; then
  echo "The QuickJS library is in $unpacked already."
  exit 0
fi

if [ -n "$packages" ]; then
  trap 'rm -rf "$work"' EXIT
  found=
  for package in "$packages"/libquickjs_*"${architecture:-$(dpkg --print-architecture)}.deb"; do
    rm -rf "$work"
    mkdir -p "$work"
    dpkg-deb -x "$package" "$work/quickjs" 2>"$log" || continue
    sum=$(sha256sum "$work"/quickjs/usr/lib/*/quickjs/libquickjs.a)
    ! grep -q "\"archive\": \"${sum%% *}\"" "$root/scripts/build/quickjs-pin.json" || found=$package
    [ -z "$found" ] || break
  done
  [ -n "$found" ] || give_up "no libquickjs${architecture:+ for $architecture} in $packages is pinned in scripts/build/quickjs-pin.json."
  source="$packages"
else
  open_suite trixie deb
  add_updates trixie deb
  unpack "$work/quickjs" libquickjs
  source="Debian trixie"
  found=$(echo "$work"/*.deb)
fi
rm -rf "$unpacked"
mv "$work/quickjs" "$unpacked"
echo "The QuickJS library of $source is in $unpacked: $(basename "$found")"
