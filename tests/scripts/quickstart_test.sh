#!/usr/bin/env bash
# ./quickstart in a copy of the tree where apt, cmake, diatheke and heed are stand-ins: what it
# calls, what it uses again, and what it says when something fails.
# shellcheck disable=SC2016  # the stand-ins expand their own variables
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export CALLS=$work/calls

mkdir -p "$work/bin" "$work/heed/scripts" "$work/heed/configs"
cp "$root/quickstart" "$work/heed/"
cp "$root/scripts/common.sh" "$work/heed/scripts/"
cd "$work/heed"

# stand_in FILE < SCRIPT
stand_in() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
stand_in "$work/bin/dpkg-query" <<<'[[ ${!#} != ${MISSING:-} ]] && echo -n installed'
stand_in "$work/bin/apt-get" <<<'echo "apt-get $*" >>"$CALLS"; echo "E: no network" >&2; exit 100'
stand_in "$work/bin/sudo" <<<'[[ $1 == -n ]] && shift; exec "$@"'
stand_in "$work/bin/cmake" <<<'echo "cmake $*" >>"$CALLS"'
stand_in scripts/parallel_bible <<'END'
echo "parallel_bible $*" >>"$CALLS"
mkdir -p "$2"
for split in train dev test; do
  for side in kjv web spanish; do
    for ((i = 0; i < 120; ++i)); do echo "A verse of $side that fills half a line and more, $i"; done >"$2/$split.$side"
  done
done
END
stand_in build/release/heed <<'END'
echo "heed $*" >>"$CALLS"
case $1 in
  train)
    while [[ $1 != --out ]]; do shift; done
    mkdir -p "$2/last"
    echo "{\"finished\": ${FINISHES:-true}}" >"$2/last/training.json"
    exit "${TRAIN_FAILS:-0}" ;;
  translate) sed 's/kjv/translated/' ;;
  embed) awk '{ printf "{\"embedding\": [%.9f, %.9f]}\n", cos($NF / 99), sin($NF / 99) }' ;;
  evaluate) cat >/dev/null; printf '%s = 61.25 80/70/60\nsignature|of:%s\n' "${2^^}2" "$2" ;;
esac
END
PATH=$work/bin:$PATH

# run STATUS ARGUMENT... : the status expected of ./quickstart; its output goes to $work/said
run() {
  local expected=$1 status=0
  shift
  : >"$CALLS"
  ./quickstart "$@" </dev/null >"$work/said" 2>&1 || status=$?
  ((status == expected)) || { cat "$work/said" && echo "exit $status, expected $expected" && exit 1; }
}
said() { grep -qE -- "$1" "$work/said" || { cat "$work/said" && echo "not said: $1" && exit 1; }; }
not_said() { ! grep -E -- "$1" "$work/said" || { echo "said: $1" && exit 1; }; }
called() { grep -qE -- "$1" "$CALLS" || { cat "$CALLS" && echo "not called: $1" && exit 1; }; }
not_called() { ! grep -E -- "$1" "$CALLS" || { echo "called: $1" && exit 1; }; }

# A package that cannot be installed: one line, before anything else happens.
MISSING=libhwy-dev run 1
said '^quickstart: error: apt-get could not install the packages: E: no network'
called '^apt-get install .* libhwy-dev$'
not_called cmake

TRAIN_FAILS=1 run 1
called '^parallel_bible kjv-web quickstart-kjv-web/corpus'
said '^quickstart: error: the training failed'
rm -r quickstart-kjv-web/model

# Interrupted, gone on with, used again.
FINISHES=false run 130
called '^heed train configs/quickstart.toml --out quickstart-kjv-web/model --source'
said 'run ./quickstart again'
run 0
not_called parallel_bible
called '^heed train .* --resume'
said 'heed +61.25 +61.25'
said 'copying the source unchanged +61.25'
said 'translation +A verse of translated'
said 'report.html'
run 0
not_called 'heed train'
said 'remove that folder'

run 0 spanish --minutes 1
called 'heed train configs/quickstart-spanish.toml --out quickstart-spanish/model --minutes 1 --source quickstart-spanish/corpus/train.web --target quickstart-spanish/corpus/train.spanish'
cp "$root/scripts/search_verses" scripts/
run 0 search --minutes 1
called '^heed train configs/quickstart-search.toml --out quickstart-search/model --minutes 1 --text quickstart-search/corpus/train.tsv --valid-text quickstart-search/corpus/dev.tsv$'
called '^heed embed --model quickstart-search/model --random-weights 1$'
not_said 'MiniLM'
run 0 search --beside sentence-transformers/all-MiniLM-L6-v2
called '^heed embed --model sentence-transformers/all-MiniLM-L6-v2$'
said '^  all-MiniLM-L6-v2  +[01]\.[0-9]+'
said 'among 240 that'
said '^  heed +1.000 +1.000 +1.000$'
run 1 spanish --beside all-MiniLM-L6-v2
said 'quickstart: error: --beside is for ./quickstart search'
run 2 french
said 'usage|quickstart spanish'
echo passed
