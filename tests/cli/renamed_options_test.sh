#!/usr/bin/env bash
# renamed_options_test.sh HEED: the former name of an option is refused, and the message gives the current name.
set -euo pipefail
heed=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# renamed FORMER CURRENT COMMAND: FORMER is refused with a separate value, with =value and without one.
renamed() {
  for argument in "$1 5" "$1=5" "$1"; do
    status=0
    # shellcheck disable=SC2086  # words
    "$heed" "$3" --model absent $argument </dev/null 2>"$work/errors" || status=$?
    if [[ $status != 2 ]] || ! grep -qxF "heed: error: $1 is now $2 (see heed $3 --help)" "$work/errors"; then
      echo "heed $3 $argument: expected \"$1 is now $2\", got status $status and:"
      cat "$work/errors" && exit 1
    fi
  done
  "$heed" "$3" --help >"$work/help"
  grep -qE -- "^ *$2 " "$work/help" || { echo "heed $3 --help does not show $2" && exit 1; }
  if grep -qE -- "$1( |$)" "$work/help"; then echo "heed $3 --help shows $1" && exit 1; fi
}

renamed --max-tokens --max-new-tokens generate
renamed --max-tokens --max-seq-length embed
renamed --beam --num-beams translate
renamed --beam --num-beams generate
renamed --beam --num-beams bench
renamed --extra-length --max-new-tokens-over-source translate
