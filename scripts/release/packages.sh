#!/usr/bin/env bash
# Prints the packages of Debian's cross compilers for the architectures of a release but this machine's.
set -euo pipefail
own=$(dpkg --print-architecture)
while read -r architecture compiler; do
  [ "$architecture" = "$own" ] || echo "gcc-$compiler"
done <<END
amd64 x86-64-linux-gnu
arm64 aarch64-linux-gnu
armhf arm-linux-gnueabihf
ppc64el powerpc64le-linux-gnu
s390x s390x-linux-gnu
riscv64 riscv64-linux-gnu
i386 i686-linux-gnu
END
