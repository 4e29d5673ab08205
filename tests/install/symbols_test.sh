#!/usr/bin/env bash
# A shared library exports names of the namespace heed alone.
#
#   symbols_test.sh LIBRARY
set -euo pipefail
symbols=$(nm --dynamic --defined-only --demangle "$1" | cut -d ' ' -f 3-)
grep -q '^heed::Model::load(' <<<"$symbols" || { echo "$1 does not export heed::Model::load" && exit 1; }
others=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?heed::' <<<"$symbols" || true)
[[ -z $others ]] || { printf '%s exports:\n%s\n' "$1" "$others" && exit 1; }
