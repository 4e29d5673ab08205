#!/usr/bin/env bash
# A shared library exports names of the namespace heed and functions of C (c_abi_test.py) alone, among them
# those that are given.
#
#   symbols_test.sh LIBRARY NAME...
set -euo pipefail
library=$1
symbols=$(nm --dynamic --defined-only --demangle "$library" | cut -d ' ' -f 3-)
for name in "${@:2}"; do
  grep -qF "$name(" <<<"$symbols" || { echo "$library does not export $name" && exit 1; }
done
others=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?heed::|^heed_[a-z_]+$' <<<"$symbols" || true)
[[ -z $others ]] || { printf '%s exports:\n%s\n' "$library" "$others" && exit 1; }
