#!/usr/bin/env bash
# Fetches a kubectl that builds the overlays of deploy/ where this machine has none, and puts it into build/kubectl
# without installing anything. The one of Debian 12 is too old for components.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

program="$root/build/kubectl"
if [ -x "$program" ]; then
  echo "kubectl is $program already."
  exit 0
fi
open_suite trixie deb
unpack "$work/unpacked" kubectl
mv "$work/unpacked/usr/bin/kubectl" "$program"
echo "kubectl is $program: $(basename "$work"/*.deb)"
