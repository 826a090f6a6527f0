#!/usr/bin/env bash
# Fetches the newest Go CNI plugins that Debian has, to compare with and to test beside, and unpacks
# them under build/go-plugins without installing anything. The mirror is the one that apt already
# uses; apt checks the signatures with Debian's own keys. Nothing happens where they exist already.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
package=containernetworking-plugins
suite=unstable
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
unpacked="$root/build/go-plugins"
state="$root/build/apt"

give_up() {
  echo "fetch-go-plugins: $1" >&2
  exit 1
}

if [ -x "$unpacked/usr/lib/cni/host-local" ]; then
  echo "The Go plugins are in $unpacked already."
  exit 0
fi

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || give_up "this machine has no $tool, so it is not a Debian."
done
[ -r "$keyring" ] || give_up "Debian's keys are missing: install debian-archive-keyring."

# The address of Debian's main archive, from whichever file of apt's configuration names it.
# shellcheck disable=SC2016 # apt fills these in, not the shell
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' |
  awk -F'|' '$1 == "Debian" && $2 == "Debian" && $3 == "main" && !found { found = $4 } END { print found }')
[ -n "$mirror" ] || give_up "apt knows no Debian archive yet: run 'apt-get update' as root first."

rm -rf "$state" "$unpacked.unfinished"
mkdir -p "$state/lists/partial" "$state/archives/partial" "$unpacked.unfinished"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/sources.list"
options=(
  -o "Dir::Etc::sourcelist=$state/sources.list"
  -o "Dir::Etc::sourceparts=/dev/null"
  -o "Dir::Etc::preferencesparts=/dev/null"
  -o "Dir::State::lists=$state/lists"
  -o "Dir::Cache=$state"
  -o "APT::Sandbox::User="
  -o "APT::Update::Post-Invoke-Success="
  -o "APT::Update::Post-Invoke="
  -o "Acquire::Languages=none"
  -o "APT::Default-Release=$suite"
  -q
)
apt-get "${options[@]}" update --error-on=any >"$state/log" 2>&1 ||
  give_up "apt could not read Debian $suite; see $state/log."
(cd "$state/archives" && apt-get "${options[@]}" download "$package/$suite" >>"$state/log" 2>&1) ||
  give_up "apt could not fetch $package; see $state/log."

archive=$(echo "$state/archives/${package}_"*.deb)
dpkg-deb -x "$archive" "$unpacked.unfinished"
mv "$unpacked.unfinished" "$unpacked"
echo "The Go plugins of Debian $suite are in $unpacked: $(basename "$archive")"
