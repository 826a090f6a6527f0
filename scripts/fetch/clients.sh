#!/usr/bin/env bash
# Fetches the container runtimes that `npm run test:clients` drives, and unpacks each group of Debian
# packages as a layer under build/clients without installing anything: the tests lay these over /usr
# in namespaces of their own. A layer that exists already is left as it is.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

unpacked="$root/build/clients"
mkdir -p "$unpacked"

# layer NAME SUITE PACKAGE...: unpacks packages of the suite as a layer.
layer() {
  if [ -d "$unpacked/$1" ]; then
    echo "$1 is in $unpacked already."
    return
  fi
  open_suite "$2" deb
  unpack "$work/unpacked" "${@:3}"
  # Where the packages still use these directories, they are links into /usr on the machine.
  local directory
  for directory in bin sbin lib lib64; do
    [ -d "$work/unpacked/$directory" ] || continue
    mkdir -p "$work/unpacked/usr/$directory"
    cp -a "$work/unpacked/$directory/." "$work/unpacked/usr/$directory"
    rm -r "${work:?}/unpacked/$directory"
  done
  rm -rf "$work/unpacked/usr/share/doc" "$work/unpacked/usr/share/man" "$work/unpacked/usr/lib/cni"
  mv "$work/unpacked" "$unpacked/$1"
  echo "$1 of Debian $2 is in $unpacked."
}

# runc serves every runtime; busybox-static is the content of every image.
layer runc bookworm runc libseccomp2 busybox-static
layer containerd-1.6 bookworm containerd
layer containerd-1.7 trixie containerd
layer containerd-2 unstable containerd
layer podman bookworm podman buildah conmon golang-github-containers-common \
  libassuan0 libdevmapper1.02.1 libglib2.0-0 libgpg-error0 libgpgme11 libsubid4
# It is newer than the C library of Debian 12, so it brings what it needs.
layer apptainer unstable apptainer libc6 libgcc-s1 liblz4-1 liblzma5 liblzo2-2 libseccomp2 libsqlite3-0 \
  libzstd1 squashfs-tools zlib1g
