#!/usr/bin/env bash
# The public headers compile without a warning, with the compiler that is given; those of the C API in C99, too.
#
#   headers_test.sh alone|together COMPILER      each alone, or all in one file; ends with 77 when there is no such
#                                                compiler
set -euo pipefail
how=$1 compiler=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v "$compiler" >/dev/null || { echo "$compiler is not installed: skipped" && exit 77; }
# compile LANGUAGE STANDARD HEADER... : one file that includes the headers.
compile() {
  local language=$1 standard=$2
  shift 2
  printf '#include <heed/%s>\n' "${@##*/}" |
    "$compiler" -std="$standard" -Wall -Wextra -Wpedantic -Wconversion -Werror -I "$root/include" \
      -fsyntax-only -x "$language" - || { echo "in $standard, with $compiler: ${*##*/} do not compile" && exit 1; }
}
headers=("$root"/include/heed/*.h) c_headers=("$root"/include/heed/c.h "$root"/include/heed/c_*.h)
if [[ $how == together ]]; then
  compile c++ c++20 "${headers[@]}"
  compile c c99 "${c_headers[@]}"
else
  for header in "${headers[@]}"; do compile c++ c++20 "$header"; done
  for header in "${c_headers[@]}"; do compile c c99 "$header"; done
fi
