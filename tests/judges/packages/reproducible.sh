#!/usr/bin/env bash
# Two runs of scripts/release give the same bits: at different times, in directories (which are where things are
# compiled) of different names, with different masks, locales, time zones and numbers of jobs.
#
#   tests/judges/packages/reproducible.sh FIRST SECOND [debian|tarball|wheels]...
#
# FIRST may be there already, from a run of the same commit. What differs is left in both.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
first=$1 second=$2
[[ -e $first/SHA256SUMS ]] || "$root/scripts/release" "$first" "${@:3}"
(
  umask 077
  export LC_ALL=C LANGUAGE=tr TZ=Pacific/Kiritimati CMAKE_BUILD_PARALLEL_LEVEL=1 DEB_BUILD_OPTIONS=parallel=1
  "$root/scripts/release" "$second" "${@:3}"
)
# What was built where, and when, is what .buildinfo and .changes say.
differ=$(diff <(grep -vE '\.(buildinfo|changes)$' "$first/SHA256SUMS") \
  <(grep -vE '\.(buildinfo|changes)$' "$second/SHA256SUMS")) || { echo "$differ" && exit 1; }
echo "the same bits: $(wc -l <"$second/SHA256SUMS") files"
