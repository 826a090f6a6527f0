#!/usr/bin/env bash
# Runs scripts of this directory, which bring what Debian has and this machine has not into build/.
# Usage: npm run fetch -- NAME..., such as `npm run fetch -- go-plugins cnitool`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

names="clients cnitool etcd go-plugins kernels kubectl quickjs user-mode-linux"
if [ $# -eq 0 ]; then
  echo "fetch: expected one or more of: $names" >&2
  exit 1
fi
for name; do
  if ! [[ " $names " == *" $name "* ]]; then
    echo "fetch: expected one or more of: $names; found $name" >&2
    exit 1
  fi
done
status=0
for name; do bash "$name.sh" || status=1; done
exit "$status"
