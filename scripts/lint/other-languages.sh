#!/usr/bin/env bash
# Lints what is not TypeScript, each language where its linters are installed: shell scripts with shellcheck, and the C host
# with the warnings and the static analyzers of clang and gcc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if command -v shellcheck >/dev/null; then
  git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck --external-sources
else
  echo "shellcheck is not installed: shell scripts were not linted." >&2
fi

# The header comes with Debian's libquickjs, or is fetched by the first build of the native executable.
include=
for directory in /usr/include/quickjs build/quickjs/usr/include/quickjs; do
  [ ! -e "$directory/quickjs.h" ] || include=$directory
done
if [ -z "$include" ]; then
  echo "quickjs.h is not there, npm run fetch -- quickjs brings it: the C host was not linted." >&2
  exit
fi

# each COMMAND...: runs a compiler with every file of C; the size is that of the snapshot that a build makes.
each() {
  if command -v "$1" >/dev/null; then
    git ls-files -z 'src/*.c' | xargs -0 --max-args=1 --max-procs="$(nproc)" "$@" -std=gnu11 -Wall -Wextra -Wshadow -Wvla \
      -Wnull-dereference -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Werror -DSNAPSHOT_SIZE=1 -isystem "$include"
  else
    echo "$1 is not installed: the C host was not linted with $1 $2." >&2
  fi
}
each clang -fsyntax-only
each clang --analyze --analyzer-output text -Xclang -analyzer-werror
each gcc -fanalyzer -O2 -c -o /dev/null
