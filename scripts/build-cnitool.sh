#!/usr/bin/env bash
# Builds cnitool, the reference runtime of the CNI project that the end-to-end tests use, as
# build/cnitool, from the newest source and with the newest Go that Debian has, without installing
# anything: the Go toolchain goes again at the end. Nothing happens where build/cnitool exists already.
# shellcheck source=scripts/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

package=golang-github-appc-cni
built="$root/build/cnitool"
if [ -x "$built" ]; then
  echo "cnitool is $built already."
  exit 0
fi

open_suite unstable deb deb-src

# The original tarball is enough: cnitool needs neither Debian's patches nor any other Go module.
(cd "$work" && apt-get "${options[@]}" source --download-only --tar-only "$package" >>"$log" 2>&1) ||
  give_up "apt could not fetch the source of $package; see $log."
tarball=$(echo "$work/${package}_"*.orig.tar.*)
mkdir "$work/source" "$work/home"
tar -xf "$tarball" -C "$work/source" --strip-components=1 >>"$log" 2>&1 ||
  give_up "tar could not unpack $(basename "$tarball"), for which it needs xz-utils; see $log."

# The packages of one version of Go, which these two only point to.
mapfile -t toolchain < <(apt-cache "${options[@]}" depends golang-go golang-src 2>>"$log" |
  awk '$1 == "Depends:" && $2 ~ /^golang-[0-9.]+-(go|src)$/ { print $2 }')
[ "${#toolchain[@]}" -eq 2 ] || give_up "Debian unstable does not say which Go is its newest."
unpack "$work/go" "${toolchain[@]}"

goroot=$(echo "$work"/go/usr/lib/go-*)
environment=(
  PATH="$PATH" HOME="$work/home" TMPDIR="$work/home" GOROOT="$goroot" GOPATH="$work/home/go"
  GOCACHE="$work/home/cache" GOENV=off GOWORK=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
  CGO_ENABLED=0
)
(cd "$work/source" && env -i "${environment[@]}" \
  "$goroot/bin/go" build -trimpath -buildvcs=false -o "$work/cnitool" ./cnitool >>"$log" 2>&1) ||
  give_up "Go could not build cnitool; see $log."
mv "$work/cnitool" "$built"
echo "cnitool is $built: $(basename "$tarball") with ${toolchain[0]}"
