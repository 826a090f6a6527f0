#!/usr/bin/env bash
# Fetches the QuickJS library for the native executable where this Debian does not have it (before Debian 13, or for
# another architecture) into build/quickjs, or build/quickjs-ARCHITECTURE, without installing anything.
# Usage: bash scripts/fetch/quickjs.sh [ARCHITECTURE], in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=${1:-}
fetch_into "$root/build/quickjs${architecture:+-$architecture}" --updates trixie libquickjs
