#!/usr/bin/env bash
# What README.md begins building and testing with, where nothing is installed: on what each Debian has, with a Node.js and
# its npm copied from this machine. What is missing has to be named, and the first command has to work once it is installed.
# All of it is in memory, in namespaces of this script, so that nothing stays however it ends. Needs root, a Debian, and a
# Node.js that brings its own libraries, as Debian's does not.
#
# Usage: bash scripts/test/bare.sh
set -euo pipefail

if [ "${1-}" != --inside ]; then
  directory=$(mktemp -d)
  trap 'rmdir "$directory"' EXIT
  unshare --mount --pid --fork --kill-child --propagation private bash "$0" --inside "$directory"
  exit
fi
machine=$2
mount -t tmpfs tmpfs "$machine"

# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/../fetch/debian.sh"

# unpacked PACKAGE...: unpacks what open_suite's apt has downloaded.
unpacked() {
  local archive
  for archive; do
    dpkg-deb --fsys-tarfile "$archive" | tar --extract --keep-directory-symlink --directory "$machine"
  done
}

# inside COMMAND: runs a command line there, in a clone of this repository, as a shell does that has just been opened.
inside() {
  chroot "$machine" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin \
    npm_config_registry="$registry" npm_config_prefer_offline=true \
    ${NODE_EXTRA_CA_CERTS:+"NODE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS"} \
    sh -c "cd /host-local && $1"
}

# lacks WHAT COMMAND: the command fails, and says what to install.
lacks() {
  local printed status=0
  printed=$(inside "$2" 2>&1) || status=$?
  if [ "$status" -ne 0 ] && [[ $printed == *"$1"* ]]; then
    echo "ok: $2 says: $1"
  else
    give_up "$2 ended with $status, and was expected to fail and say \"$1\". It printed: $printed"
  fi
}

open_suite "$(own_suite)" deb
apt-get "${options[@]}" --download-only --yes --no-install-recommends \
  install '?priority(required)' apt usr-is-merged libatomic1 >>"$log" 2>&1 || give_up "apt could not fetch; see $log."
for directory in bin lib lib64 sbin; do
  mkdir -p "$machine/usr/$directory"
  ln -s "usr/$directory" "$machine/$directory"
done
# The packages are unpacked and not configured: that would take a minute, and nothing here needs more of it than this.
libatomic=$(echo "$work"/archives/libatomic1_*.deb)
mv "$libatomic" "$work"
unpacked "$work"/archives/*.deb
cp "$machine/usr/share/base-passwd/passwd.master" "$machine/etc/passwd"
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
cp --dereference /etc/resolv.conf "$machine/etc"
[ -z "${NODE_EXTRA_CA_CERTS-}" ] || install -D -m 644 "$NODE_EXTRA_CA_CERTS" "$machine$NODE_EXTRA_CA_CERTS"

npm=$(command -v npm)
registry=$(npm config get registry)
cache=$(npm config get cache)
mkdir -p "$cache" "$machine/root/.npm"
mount --bind "$cache" "$machine/root/.npm"
mkdir -p "$machine"/usr/local/{bin,lib}
cp --dereference "$(dirname "$npm")/node" "$machine/usr/local/bin"
cp -r "$(dirname "$(readlink -f "$npm")")/.." "$machine/usr/local/lib/npm"
ln -s ../lib/npm/bin/npm-cli.js "$machine/usr/local/bin/npm"
git clone -q "$root" "$machine/host-local"

first=$(sed -n '/^## Build and test$/,$ s/^npm /npm /p' "$root/README.md" | sed 's/ *#.*//' | head -n 1)
lacks "apt-get install libatomic1" "$first"
unpacked "$work/$(basename "$libatomic")"
# npm ci has done its part.
inside "${first#npm ci && }"
lacks "install gcc and libc6-dev" "npm run build:native"
