# shellcheck shell=bash
# Sourced by the scripts that take something from Debian without installing it. apt works with a
# configuration, lists and archives of its own in $work, under build/, which goes when the script
# ends; $log stays. The mirror is the one that apt already uses; apt checks the signatures with
# Debian's own keys.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script="fetch-$(basename "$0" .sh)"
work="$root/build/$script"
log="$work.log"

give_up() {
  echo "$script: $1" >&2
  exit 1
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# archive_of LABEL: the address of one of Debian's archives, from whichever file of apt's configuration names it.
archive_of() {
  # shellcheck disable=SC2016 # apt fills these in, not the shell
  apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' |
    awk -F'|' -v label="$1" '$1 == "Debian" && $2 == label && $3 == "main" && !found { found = $4 } END { print found }'
}

# own_suite: this machine's.
own_suite() {
  # shellcheck source=/dev/null
  (. /etc/os-release && echo "${VERSION_CODENAME:-trixie}")
}

# open_suite SUITE TYPE...: reads what the suite has, of the types deb, deb-src or both. From then on
# "${options[@]}" makes any apt command work with that suite alone, for the Debian architecture
# $architecture or else for this machine's own.
open_suite() {
  local mirror tool type
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || give_up "this machine has no $tool, so it is not a Debian."
  done
  [ -r "$keyring" ] || give_up "Debian's keys are missing: install debian-archive-keyring."

  mirror=$(archive_of Debian)
  [ -n "$mirror" ] || give_up "apt knows no Debian archive yet: run 'apt-get update' as root first."

  trap 'rm -rf "$work"' EXIT
  rm -rf "$work"
  mkdir -p "$work/lists/partial" "$work/archives/partial"
  for type in "${@:2}"; do echo "$type [signed-by=$keyring] $mirror $1 main"; done >"$work/sources.list"
  options=(
    -o "Dir::Etc::sourcelist=$work/sources.list"
    -o "Dir::Etc::sourceparts=/dev/null"
    -o "Dir::Etc::preferences=/dev/null"
    -o "Dir::Etc::preferencesparts=/dev/null"
    -o "Dir::State::lists=$work/lists"
    -o "Dir::State::status=/dev/null"
    -o "Dir::Cache=$work"
    -o "APT::Sandbox::User="
    -o "APT::Update::Post-Invoke-Success="
    -o "APT::Update::Post-Invoke="
    -o "Acquire::Languages=none"
    -o "APT::Default-Release="
    -q
  )
  if [ -n "${architecture:-}" ]; then
    options+=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture")
  fi
  apt-get "${options[@]}" update --error-on=any >"$log" 2>&1 ||
    give_up "apt could not read Debian $1; see $log."
}

# add_updates SUITE TYPE: after `open_suite`, what the suite's updates and security updates have, too. One that cannot be
# read is named, and done without: the archive may not have it for the architecture.
add_updates() {
  local archive suite
  for suite in "$1-updates" "$1-security"; do
    archive=$(archive_of "$([[ $suite == *-security ]] && echo Debian-Security || echo Debian)")
    cp "$work/sources.list" "$work/sources.before"
    echo "$2 [signed-by=$keyring] $archive $suite main" >>"$work/sources.list"
    if [ -n "$archive" ] && apt-get "${options[@]}" update --error-on=any >>"$log" 2>&1 &&
      # One that does not have the architecture is no error for apt.
      compgen -G "$work/lists/*_dists_${suite}_main_*" >/dev/null; then
      continue
    fi
    echo "$script: Debian $suite could not be read, what it has${architecture:+ for $architecture} is missing; see $log." >&2
    mv "$work/sources.before" "$work/sources.list"
    apt-get "${options[@]}" update --error-on=any >>"$log" 2>&1 || give_up "apt could not read Debian $1; see $log."
  done
}

# unpack DIRECTORY PACKAGE...: fetches packages of the suite and unpacks them into the directory.
# The archives stay in $work until the end.
unpack() {
  local archive
  (cd "$work" && apt-get "${options[@]}" download "${@:2}" >>"$log" 2>&1) ||
    give_up "apt could not fetch ${*:2}; see $log."
  mkdir -p "$1"
  for archive in "$work"/*.deb; do
    dpkg-deb -x "$archive" "$1" || give_up "dpkg-deb could not unpack $(basename "$archive")."
  done
}

# fetch_into DIRECTORY [--updates] SUITE PACKAGE...: fetches packages of the suite, or of it with its updates, and unpacks
# them into a directory, unless it is there.
fetch_into() {
  local directory=$1 updates=
  shift
  if [ "$1" = --updates ]; then
    updates=yes
    shift
  fi
  if [ -d "$directory" ]; then
    echo "$directory is there already."
    return
  fi
  open_suite "$1" deb
  [ -z "$updates" ] || add_updates "$1" deb
  unpack "$work/fetched" "${@:2}"
  mkdir -p "$(dirname "$directory")"
  mv "$work/fetched" "$directory"
  echo "$directory has $(cd "$work" && echo ./*.deb) of Debian $1."
}

# depends PATTERN PACKAGE...: what packages of the suite depend on whose name matches.
depends() {
  apt-cache "${options[@]}" depends "${@:2}" 2>>"$log" | awk -v "pattern=$1" '$1 == "Depends:" && $2 ~ pattern { print $2 }'
}

# unpack_go DIRECTORY: fetches the suite's Go and unpacks it into the directory.
# From then on `run_go` works, and $go_package says which Go it is.
unpack_go() {
  # The packages of one version of Go, which these two only point to.
  local toolchain
  mapfile -t toolchain < <(depends '^golang-[0-9.]+-(go|src)$' golang-go golang-src)
  [ "${#toolchain[@]}" -eq 2 ] || give_up "Debian does not say which Go is the newest of the suite."
  unpack "$1" "${toolchain[@]}"
  goroot=$(echo "$1"/usr/lib/go-*)
  # shellcheck disable=SC2034 # for those who call this function
  go_package=${toolchain[0]}
}

# run_go COMMAND...: the Go of `unpack_go` without modules, so that packages are looked for under $work/home/go/src, and
# without the machine's own settings of Go.
run_go() {
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/home" GOROOT="$goroot" GOPATH="$work/home/go" \
    GOCACHE="$work/home/cache" GOENV=off GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 \
    "$goroot/bin/go" "$@" >>"$log" 2>&1
}
