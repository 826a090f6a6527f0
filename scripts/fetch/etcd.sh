#!/usr/bin/env bash
# Fetches the etcd that `npm run test:kubernetes` uses where upstream's server archive has none, into build/etcd without
# installing anything. The one of Debian 12 is too old for a Kubernetes of today.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

fetch_into "$root/build/etcd" unstable etcd-server
