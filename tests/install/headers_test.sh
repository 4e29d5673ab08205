#!/usr/bin/env bash
# Each public header compiles alone, without a warning, with the compiler that is given; those of the C API
# in C99, too.
#
#   headers_test.sh COMPILER      ends with 77 when there is no such compiler
set -euo pipefail
compiler=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v "$compiler" >/dev/null || { echo "$compiler is not installed: skipped" && exit 77; }
for header in "$root"/include/heed/*.h; do
  echo "#include <heed/${header##*/}>" |
    "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -I "$root/include" \
      -fsyntax-only -x c++ - || { echo "${header##*/} does not compile alone with $compiler" && exit 1; }
done
for header in "$root"/include/heed/c.h "$root"/include/heed/c_*.h; do
  echo "#include <heed/${header##*/}>" |
    "$compiler" -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -I "$root/include" -fsyntax-only -x c - ||
    { echo "${header##*/} does not compile alone in C99 with $compiler" && exit 1; }
done
