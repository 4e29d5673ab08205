#!/usr/bin/env bash
# All C and C++ is formatted as .clang-format says. Ends with 77 where clang-format 14 is not installed: other versions
# format differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $(clang-format --version 2>/dev/null) == *'version 14.'* ]] || { echo 'skipped: clang-format 14 is not installed' && exit 77; }

# unformatted FOLDER... : the places that clang-format would change.
unformatted() {
  find "$@" -name build -prune -o \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -print0 |
    xargs -0 clang-format --style=file:.clang-format --dry-run --Werror
}

unformatted include src tests bench examples python

# Whether it would say so.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
echo 'int  f( );' >"$work/x.cc"
! unformatted "$work" 2>"$work/log" || { echo 'two spaces were not found' && exit 1; }
grep -q 'clang-format-violations' "$work/log"
