#!/usr/bin/env bash
# Builds cnitool, the reference runtime of the CNI project that the tests use, and beside it libcni-gc,
# from Debian's sources and with Debian's Go, without installing anything: the Go toolchain goes again at
# the end. The newest is build/cnitool, that of Debian 12 is build/cnitool-1.1. What exists already is
# left as it is.
# shellcheck source=scripts/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

package=golang-github-appc-cni

# build SUITE NAME [PROGRAM]: builds the cnitool of a suite as build/NAME, and where it is named test/clients/PROGRAM.
build() {
  local built="$root/build/$2" source tarball goroot toolchain environment program
  if [ -x "$built" ] && [ -x "$root/build/${3:-$2}" ]; then
    echo "cnitool is $built already."
    return
  fi
  open_suite "$1" deb deb-src

  # The original tarball is enough: cnitool needs neither Debian's patches nor any other Go module.
  (cd "$work" && apt-get "${options[@]}" source --download-only --tar-only "$package" >>"$log" 2>&1) ||
    give_up "apt could not fetch the source of $package; see $log."
  tarball=$(echo "$work/${package}_"*.orig.tar.*)
  # Where Go looks for a package without modules, of which this Go would want those of the tests, too.
  source="$work/home/go/src/github.com/containernetworking/cni"
  mkdir -p "$source"
  tar -xf "$tarball" -C "$source" --strip-components=1 >>"$log" 2>&1 ||
    give_up "tar could not unpack $(basename "$tarball"), for which it needs xz-utils; see $log."

  # The packages of one version of Go, which these two only point to.
  mapfile -t toolchain < <(apt-cache "${options[@]}" depends golang-go golang-src 2>>"$log" |
    awk '$1 == "Depends:" && $2 ~ /^golang-[0-9.]+-(go|src)$/ { print $2 }')
  [ "${#toolchain[@]}" -eq 2 ] || give_up "Debian $1 does not say which Go is its newest."
  unpack "$work/go" "${toolchain[@]}"

  goroot=$(echo "$work"/go/usr/lib/go-*)
  environment=(
    PATH="$PATH" HOME="$work/home" TMPDIR="$work/home" GOROOT="$goroot" GOPATH="$work/home/go"
    GOCACHE="$work/home/cache" GOENV=off GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
  )
  [ -z "${3-}" ] || cp -r "$root/test/clients/$3" "$source/$3"
  for program in cnitool ${3:+"$3"}; do
    (cd "$source" && env -i "${environment[@]}" \
      "$goroot/bin/go" build -trimpath -buildvcs=false -o "$work/$program" "./$program" >>"$log" 2>&1) ||
      give_up "Go could not build $program; see $log."
  done
  [ -z "${3-}" ] || mv "$work/$3" "$root/build/$3"
  sed -E 's/.*_(.*)\.orig\..*/\1/' <<<"$tarball" >"$built.version"
  mv "$work/cnitool" "$built"
  echo "cnitool is $built: $(basename "$tarball") with ${toolchain[0]}"
}

build unstable cnitool libcni-gc
build bookworm cnitool-1.1
