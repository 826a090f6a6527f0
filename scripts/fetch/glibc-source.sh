#!/usr/bin/env bash
# Fetches the sources of the glibc that the executables of a release contain, which the LGPL asks for: Debian's source
# packages of the versions in the SBOMs, into the directory of the release.
# Usage: bash scripts/fetch/glibc-source.sh [DIRECTORY [OPTION OF APT-GET...]], for dist/release or another.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

release=$(realpath "${1:-$root/dist/release}")
versions=$(sed -nE 's|.*"purl": "pkg:deb/debian/libc6-dev@([^?"]+).*|\1|p' "$release"/*.cdx.json | sed 's/%2B/+/g' | sort -u)
[ -n "$versions" ] || give_up "no SBOM in $release names a glibc."
unserved=()
# Those from which sysroot.sh takes it.
for suite in $(printf '%s\n' "$(own_suite)" trixie | sort -u); do
  open_suite "$suite" deb-src
  add_updates "$suite" deb-src
  for version in $versions; do
    if (cd "$work" && apt-get "${options[@]}" source --download-only "${@:2}" "glibc=$version" >>"$log" 2>&1); then
      mv "$work"/glibc_* "$release"
      echo "The source of glibc $version is in $release."
    elif apt-cache "${options[@]}" showsrc glibc 2>>"$log" | grep --line-regexp --fixed-strings "Version: $version" >>"$log"; then
      unserved+=("$version")
    else
      continue
    fi
    versions=$(grep --invert-match --line-regexp --fixed-strings "$version" <<<"$versions" || true)
  done
done
[ ${#unserved[@]} -eq 0 ] || echo "$script: apt could not fetch the source of glibc ${unserved[*]}, which the index of Debian's archive has; see $log, and try again later." >&2
[ -z "$versions" ] || give_up "Debian's archive has no source of glibc ${versions//$'\n'/, } any more: its archive of snapshots does."
[ ${#unserved[@]} -eq 0 ]
