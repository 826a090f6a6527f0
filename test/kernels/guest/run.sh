#!/bin/busybox sh
# shellcheck shell=dash
# Runs files of tests, such as `run.sh life,records`, and prints TAP.
mkdir -p /run/netns
for file in $(echo "$1" | tr , ' '); do
  echo "# file: $file"
  : >/tmp/results
  # shellcheck source=/dev/null
  (. "/tests/$file.sh")
  passed=$(grep -c '^ok' /tmp/results)
  skipped=$(grep -c '^ok .* # SKIP ' /tmp/results)
  failed=$(grep -c '^not ok' /tmp/results)
  echo "# { total: $((passed + failed)), pass: $((passed - skipped)), fail: $failed, skip: $skipped }"
done
