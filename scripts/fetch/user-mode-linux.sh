#!/usr/bin/env bash
# Fetches a kernel that makes the interfaces of every main plugin, for machines whose own does not: `npm run
# test:clients` then runs its scenarios in it.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

fetch_into "$root/build/clients/user-mode-linux" bookworm user-mode-linux
