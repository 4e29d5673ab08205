#!/bin/bash
# Everything that is still to be measured on a GPU, most valuable first. A step that fails or takes
# too long does not stop those after it. What the steps print is in OUT/log.txt at once; at the end
# OUT/results.csv and a summary, which is printed last.
#   bench/gpu/queue.sh BUILD OUT SECONDS [STEP...]
# BUILD: what bench/gpu/carry.sh collected. With names of steps, those alone, in the queue's order.
# Environment: PYTHON (python3, with torch and transformers); HEED_QUEUE_TINY=1: small sizes, for
# trying the script where there is no GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
deadline=$((SECONDS + $3))
shift 3
only=" $* "
python=${PYTHON:-python3}
log=$out/log.txt
: > "$log"
export PYTHONUNBUFFERED=1 PYTHONPATH=$here TOKENIZERS_PARALLELISM=false
tiny=
device=(--device cuda)
if [ -n "${HEED_QUEUE_TINY:-}" ]; then
  tiny=--tiny
  device=(--device cpu)
fi

# The driver, where the loader does not know it.
if [ -z "${HEED_CUDA_DRIVER:-}" ] && ! ldconfig -p 2> /dev/null | grep -q 'libcuda\.so\.1'; then
  found=$(find /usr/local/nvidia /usr/lib /usr/lib64 -name libcuda.so.1 2> /dev/null | head -1)
  [ -n "$found" ] && export HEED_CUDA_DRIVER=$found
fi

# Large files in memory where there is room.
scratch=/tmp
if [ "$(df --output=avail -m /dev/shm 2> /dev/null | tail -1)" -gt 30000 ] 2> /dev/null; then
  scratch=/dev/shm
fi
scratch=$(mktemp -d "$scratch/heed-queue.XXXXXX")
finish() {
  rm -rf "$scratch"
  HEED_TREE=$(cat "$build/tree" 2> /dev/null) timeout 20 "$python" "$here/summarise.py" "$out"
}
trap finish EXIT
trap 'exit 1' TERM INT

# program NAME ARGUMENT...: one of BUILD, with its libraries.
program() {
  local name=$1
  shift
  env LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$build/$name" "$@"
}
# sanitize TOOL: the cases of kernels under compute-sanitizer.
sanitize() {
  HEED_TEST_GPU=1 compute-sanitizer --tool "$1" --report-api-errors no --target-processes all --print-limit 20 \
    --error-exitcode 9 env LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$build/op_cases_test" --gtest_brief=1 --gtest_filter='*GpuAgrees*'
}
export -f program sanitize
export build scratch here python tiny log

# step NAME SECONDS COMMAND: a command of bash, if there is time left.
step() {
  local name=$1 limit=$2 left=$((deadline - SECONDS - 8)) status start=$SECONDS
  if [ "$only" != "  " ] && [[ "$only" != *" $name "* ]]; then
    return
  fi
  if [ "$left" -lt 5 ]; then
    echo "## $name: not run, no time left" | tee -a "$log"
    return
  fi
  [ "$limit" -gt "$left" ] && limit=$left
  echo "# $name" >> "$log"
  timeout -k 3 "$limit" bash -c "$3" >> "$log" 2>&1 < /dev/null
  status=$?
  [ $status -eq 124 ] && status="124 (more than $limit s)"
  echo "## $name: $((SECONDS - start)) s, status $status" | tee -a "$log"
}

# ceiling NAME OTHERWISE: what ceilings.py measured.
ceiling() {
  local value
  value=$(awk -v name="$1" '$1 == "ceiling" && $2 == name { print $3 }' "$log" | tail -1)
  echo "${value:-$2}"
}

peers() {
  echo "\"\$python\" \"\$here/peers.py\" ${device[*]} $tiny --dump \"\$scratch\" $*"
}

kernels() {
  echo "program gpu_kernels_bench $tiny --bandwidth $(ceiling bandwidth 3e12)" \
    "--bf16 $(ceiling bf16 798e12) --f32 $(ceiling f32 60e12) --part '$1'"
}

models() {
  echo "\"\$python\" \"\$here/make_models.py\" ${device[*]} $tiny \"\$scratch\" $*"
}

# measured WORK MODEL ARGUMENT...: heed bench; its line of JSON belongs to the work.
measured() {
  local work=$1 model=$2
  shift 2
  echo "@ $work"
  program heed bench --model "$scratch/$model" $gpu --json --repeat 3 "$@"
}
export -f measured
gpu=
if program heed bench --help 2> /dev/null | grep -q -- '--device'; then
  gpu="--device gpu"
else
  echo "heed bench has no --device: models are left out" | tee -a "$log"
fi
export gpu
model_step() {
  [ -n "$gpu$tiny" ] && step "$@"
}
# Prompts and contexts of models.
long=2048 context=1024 many=64
if [ -n "$tiny" ]; then
  long=64 context=16 many=3
fi
export long context many

step machine 10 'date -u; cat "$build/tree"; uname -r; nproc; free -g | head -2; df -h /tmp /dev/shm
nvidia-smi
nvidia-smi --format=csv \
  --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,temperature.gpu
program heed info --devices'
step ceilings 60 "\"\$python\" \"\$here/ceilings.py\" ${device[*]} $tiny"
step clocks 5 'nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv'
step mma 25 "program gpu_probes mma $tiny --dump \"\$scratch\""
step launch 15 "program gpu_probes launch $tiny"

# Kernels against the reference; if all together fail, part by part, since a fault ends a process.
step cases 60 'export HEED_TEST_GPU=1
program op_cases_test --gtest_brief=1 --gtest_filter="*Gpu*"'
if grep -q '^## cases: .*status [1-9]' "$log"; then
  step cases-by-part 60 'export HEED_TEST_GPU=1
  for part in "product of" "product with" "rows of a product" matmul_blocks matmul_int8 attention \
      softmax norm rota activation gated sigmoid cap add scale convert square embedding gather \
      columns means expert entropy adam dropout sampl top argmax; do
    echo "part $part"
    HEED_OP_CASES="$part" timeout -k 2 20 bash -c \
      "program op_cases_test --gtest_brief=1 --gtest_filter=*Gpu*" || echo "part $part FAILED"
  done'
fi

step kernels-matmul 45 "$(kernels 'matmul bf16')"
step kernels-attention 40 "$(kernels attention)"
step kernels-blocks 40 "$(kernels blocks)"
rows=norm,rotary,gated,add_to,embedding,softmax,gelu,convert,gather,entropy,adam,squares
step kernels-rows 45 "$(kernels $rows)"
few="bf16 M=1 ,bf16 M=8 ,q4_0 M=1 ,q4_0 M=8 ,norm 1x,norm 64x,rotary 1x,gated silu 1x,add_to 1x"
step kernels-graph 30 "$(kernels "$few") --graph"
step kernels-tiles 40 "$(kernels tile)"
step memcheck 45 "sanitize memcheck"
step peers-matmul 45 "$(peers matmul bits)"
step peers-attention 40 "$(peers attention)"

# A decoder of Llama 3's shape.
model_step make-8b 60 "$(models llama-8b)"
model_step heed-8b 70 'measured "llama-8b bf16" llama-8b --compute bf16 --prompt-tokens "$long" \
  --context "$context" --tokens 64'
model_step heed-8b-batch 70 'measured "llama-8b bf16" llama-8b --compute bf16 --prompt-tokens 128 \
  --context "$context" --tokens 32 --batch "$many"'
step peers-8b 60 "$(peers llama-8b)"
step racecheck 50 "sanitize racecheck"
step kernels-f32 30 "$(kernels 'matmul f32')"
step peers-rows 40 "$(peers rows)"

# The same tokens whatever runs beside a prompt.
model_step make-small 40 "$(models llama-1b llama-8b-q4_0 minilm marian)"
model_step same-tokens 60 'for i in $(seq 200); do
  printf "%s: %s\n" "$i" "$(head -c $((7 * i)) "$here/README.md" | tr "\n" " ")"
done > "$scratch/prompts"
run() {
  program heed generate --model "$scratch/llama-1b" $gpu --compute bf16 --json \
    --max-new-tokens 24 "$@" < "$scratch/prompts" | sed "s/.*\"tokens\"/\"tokens\"/"
}
run > "$scratch/together"
run --batch-tokens 1 > "$scratch/alone"
run --speculate ngram > "$scratch/drafted"
wc -l "$scratch/together"
for other in alone drafted; do
  if [ -s "$scratch/together" ] && cmp "$scratch/together" "$scratch/$other"; then
    echo "same-tokens: $other as together"
  else
    echo "same-tokens: $other OTHER TOKENS"
    diff "$scratch/together" "$scratch/$other" | head -4 | cut -c1-200
  fi
done'
model_step heed-8b-q4_0 60 'measured "llama-8b q4_0" llama-8b-q4_0.gguf --prompt-tokens "$long" \
  --context "$context" --tokens 64'
model_step heed-minilm 25 'measured "minilm f32 texts of 128" minilm --weights f32 \
  --compute f32 --batch 256 --prompt-tokens 128'
model_step heed-marian 40 'measured "marian bf16 greedy B=64" marian --weights bf16 --compute bf16 \
  --batch 64 --prompt-tokens 32 --tokens 32
measured "marian bf16 beam 4 B=64" marian --weights bf16 --compute bf16 --batch 64 \
  --prompt-tokens 32 --tokens 32 --num-beams 4'
step peers-small 60 "$(peers minilm marian)"
step exp2 25 "program gpu_probes exp2 $tiny"
step initcheck 40 "sanitize initcheck"
step synccheck 40 "sanitize synccheck"
step peers-8b-compiled 150 "$(peers --limit 90 llama-8b)"
