#!/usr/bin/env bash
# Lints what is not TypeScript, each language where its linter is installed: shell scripts with shellcheck, and the C host
# with the warnings of clang.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
if [ -n "$include" ] && command -v clang >/dev/null; then
  # The size is that of the snapshot that a build makes.
  git ls-files -z 'src/*.c' | xargs -0 clang -std=gnu11 -fsyntax-only -Wall -Wextra -Wshadow -Wvla \
    -Wnull-dereference -Wstrict-prototypes -Werror -DSNAPSHOT_SIZE=1 -isystem "$include"
else
  echo "clang or quickjs.h is not there: the C host was not linted." >&2
fi
