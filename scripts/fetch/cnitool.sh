#!/usr/bin/env bash
# Builds cnitool, the reference runtime of the CNI project that the tests use, and beside it libcni-gc,
# from Debian's sources and with Debian's Go, without installing anything: the Go toolchain goes again at
# the end. The newest is build/cnitool, that of Debian 12 is build/cnitool-1.1. What exists already is
# left as it is.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

package=golang-github-appc-cni

# build SUITE NAME [PROGRAM]: builds the cnitool of a suite as build/NAME, and where it is named test/clients/PROGRAM.
build() {
  local built="$root/build/$2" source tarball program
  if [ -x "$built" ] && [ -x "$root/build/${3:-$2}" ]; then
    echo "cnitool is $built already."
    return
  fi
  open_suite "$1" deb deb-src

  # The original tarball is enough: cnitool needs neither Debian's patches nor any other Go module.
  (cd "$work" && apt-get "${options[@]}" source --download-only --tar-only "$package" >>"$log" 2>&1) ||
    give_up "apt could not fetch the source of $package; see $log."
  tarball=$(echo "$work/${package}_"*.orig.tar.*)
  source="$work/home/go/src/github.com/containernetworking/cni"
  mkdir -p "$source"
  tar -xf "$tarball" -C "$source" --strip-components=1 >>"$log" 2>&1 ||
    give_up "tar could not unpack $(basename "$tarball"), for which it needs xz-utils; see $log."

  unpack_go "$work/go"
  [ -z "${3-}" ] || cp -r "$root/test/clients/$3" "$source/$3"
  for program in cnitool ${3:+"$3"}; do
    (cd "$source" && run_go build -trimpath -buildvcs=false -o "$work/$program" "./$program") ||
      give_up "Go could not build $program; see $log."
  done
  [ -z "${3-}" ] || mv "$work/$3" "$root/build/$3"
  sed -E 's/.*_(.*)\.orig\..*/\1/' <<<"$tarball" >"$built.version"
  mv "$work/cnitool" "$built"
  echo "cnitool is $built: $(basename "$tarball") with $go_package"
}

build unstable cnitool libcni-gc
build bookworm cnitool-1.1
