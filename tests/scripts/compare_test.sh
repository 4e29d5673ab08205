#!/usr/bin/env bash
# bench/compare with stand-ins for heed and for the others' interpreter: what it makes of figures, of
# programs that fail or take too long, and of a machine without a network.
# shellcheck disable=SC2016  # the stand-ins expand their own variables
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export CALLS=$work/calls HEED_COMPARE_BUILD=$work/build HEED_COMPARE_VENVS=$work/venv PYTHONDONTWRITEBYTECODE=1

# stand_in FILE < SCRIPT
stand_in() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
stand_in "$work/heed" <<'END'
echo "heed $*" >>"$CALLS"
case "$*" in
  *--limits*)
    echo '{"reading": {"memory": {"bytes_per_second": 2e10}, "caches": {"bytes_per_second": 6e10}},
      "arithmetic": {"int8": {"operations_per_second": 1e12, "instructions": "VNNI"}}}' | tr -d '\n' ;;
  *info*) echo '{"cache_bytes_per_token": 0}' ;;
  *) echo '{"compute": "int8", "peak_memory": 3e6, "measured": {
      "decode": {"per_second": 200, "reading_limit": 2e10, "weight_bytes_per_step": 5e7},
      "outputs": {"per_second": 30}, "lines": {"per_second": 50}}}' | tr -d '\n' ;;
esac
END
# Reports every module as installed, creates the requested files, and prints measurements.
stand_in "$work/venv/bin/python" <<'END'
echo "python ${*/#*\//}" >>"$CALLS"
case "$1:$*" in
  -c:*) exit 0 ;;
  *make_decoder* | *requantise*) printf 'weights' >"${!#}" ;;
  *make_*) exit 0 ;;
  *ctranslate2_bench*"--workers 1"*) echo '{"per_second": 20, "version": "CTranslate2 4"}' ;;
  *ctranslate2_bench*) echo '{"per_second": 10, "version": "CTranslate2 4"}' ;;
  *"${SLOW:-nothing}"*) sleep 20 ;;
  *"${BROKEN:-nothing}"*) echo "llama_decode | failed" >&2 && exit 1 ;;
  *llama_cpp_bench*) echo '{"per_second": 100, "peak_memory": 6e6, "version": "llama.cpp 1"}' ;;
esac
END

# run STATUS ARGUMENT... : the status expected of bench/compare; its output goes to $work/said
run() {
  local expected=$1 status=0
  shift
  : >"$CALLS"
  "$root/bench/compare" --quick --threads 2 --heed "$work/heed" "$@" >"$work/said" 2>&1 || status=$?
  ((status == expected)) || { cat "$work/said" && echo "exit $status, expected $expected" && exit 1; }
}
said() { grep -qF -- "$1" "$work/said" || { cat "$work/said" && echo "not said: $1" && exit 1; }; }

run 0 decode
said 'reading memory: 20.0 GB/s; from caches: 60.0 GB/s'
said '| decode, smollm2, q4_0, tokens/s | 200 (200 to 200) | llama.cpp: 100 (100 to 100) | **2.00** (2.00 to 2.00) | 2 |'
said 'of 20.0 GB/s heed reads 50%, llama.cpp 25%'
said 'llama.cpp 1; 2 rounds'
[[ $(grep -c 'make_decoder.py smollm2 q4_0' "$CALLS") == 1 ]]

# The programs take turns, and models are made once.
run 0 --rounds 3 decode
[[ $(grep -o '^heed bench .*smollm2-q4_0\|^python .*llama_cpp_bench.py .*smollm2-q4_0' "$CALLS" |
  cut -c1-4 | tr '\n' ' ') == 'heed pyth pyth pyth pyth heed pyth heed pyth ' ]]
if grep make_decoder "$CALLS"; then exit 1; fi

# The faster of CTranslate2's two settings counts, and the other is shown too.
run 0 latency translate
said '| 30 (30 to 30) | CTranslate2 1 x 2: '
said '**1.50**'
said '2 x 1: 10'

# Less memory is better.
run 0 memory
said '| 3 (3 to 3) | llama.cpp: 6 (6 to 6) | **2.00**'

# One that fails is named and does not come again; one that takes too long ends its case.
BROKEN=llama_cpp_bench run 0 decode
said '| 200 (200 to 200) |  |  | 2 | of 20.0 GB/s heed reads 50%; llama.cpp: llama_decode / failed; '
SLOW=smollm2-q4_0.gguf run 0 --seconds 1 decode
said 'llama.cpp: out of time'

# Without a network there is one line about it.
stand_in "$work/build/venv/bin/python" <<<'echo "ERROR: no route to the index" >&2; exit 1'
rm -r "$work/build/models"
HEED_COMPARE_VENVS='' run 1 decode
said 'compare: decode: gguf==0.19.0 cannot be had with pip (no network?): ERROR: no route to the index'
run 2 dance
said 'no job dance, expected one of translate'
echo passed
