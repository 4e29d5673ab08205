#!/usr/bin/env bash
# standard_output_test.sh HEED: output that cannot be written, for example to a full disk, is an error.
set -euo pipefail
heed=$1
errors=$(mktemp)
trap 'rm "$errors"' EXIT

for command in --help --version "translate --help" \
  "train --preset tiny --set run.max_steps=1 --dump-config"; do
  # shellcheck disable=SC2086  # words
  "$heed" $command >/dev/null
  # shellcheck disable=SC2086
  if "$heed" $command >/dev/full 2>"$errors"; then
    echo "heed $command: a full disk went unnoticed" && exit 1
  fi
  grep -qx "heed: error: standard output cannot be written" "$errors"
done
