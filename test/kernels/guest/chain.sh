#!/bin/busybox sh
# shellcheck shell=dash
# Hands the network namespace over: this starts itself again, and ends at once.
[ ! -e /tmp/chain-ends ] || exit
echo $$ >/tmp/chain
/tests/chain.sh &
