#!/usr/bin/env bash
# Fetches the etcd that `npm run test:kubernetes -- --binaries DIR` uses where the directory has none, as upstream's server
# archive, into build/etcd without installing anything. The one of Debian 12 is too old for a Kubernetes of today.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

fetch_into "$root/build/etcd" unstable etcd-server
