#!/usr/bin/env bash
# Fetches the newest Go CNI plugins that Debian has, to compare with and to test beside, into build/go-plugins, or
# build/go-plugins-ARCHITECTURE, without installing anything.
# Usage: bash scripts/fetch/go-plugins.sh [ARCHITECTURE], in Debian's names.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

architecture=${1:-}
fetch_into "$root/build/go-plugins${architecture:+-$architecture}" unstable containernetworking-plugins
