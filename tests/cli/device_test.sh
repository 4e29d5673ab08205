#!/usr/bin/env bash
# device_test.sh HEED DRIVER: the subcommands with --device gpu, on a simulated GPU whose driver is DRIVER: what they
# print is what they print on the CPU.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
export HEED_CUDA_DRIVER=$2 HEED_SIMULATED_GPU=memory=256

# same COMMAND...: its output does not depend on the device, and is not empty.
same() {
  "$@" --device cpu >cpu 2>err && "$@" --device gpu >gpu 2>err || { echo "$*:" && cat err && exit 1; }
  [[ -s cpu ]] && cmp cpu gpu || { echo "$*: on the CPU and on the GPU:" && cat cpu gpu && exit 1; }
}

printf '%s\n' 'the old sea' 'a ship went out' >lines
same "$heed" generate "${decoder[@]}" --prompt 'the sea' --max-new-tokens 8
same "$heed" generate "${decoder[@]}" --prompt 'the sea the sea' --max-new-tokens 8 --speculate ngram
same "$heed" generate "${decoder[@]}" --prompt 'the sea' --max-new-tokens 8 --num-beams 3
same "$heed" generate "${decoder[@]}" --input lines --max-new-tokens 8 --temperature 0.8 --seed 3
same "$heed" translate --model "$golden/translation/opus-mt" --input lines
same "$heed" rerank --model "$golden/encoders/rerank" --query 'the sea' --input lines --top 1
same "$heed" classify --model "$golden/encoders/ner" --input lines

# What is measured there is not compared with what the processors can do.
for model in decoder encoder; do
  for compute in f32 bf16 int8; do
    sizes=(--prompt-tokens 8 --batch 2 --repeat 1 --json)
    [[ $model == encoder ]] || sizes+=(--tokens 2 --context 8)
    "$heed" bench --model $model --random-weights 1 --compute $compute --device gpu "${sizes[@]}" >out 2>err
    grep -q "\"compute\":\"$compute\",\"device\":\"GPU 0 (simulated GPU)\"" out || { cat out && exit 1; }
    ! grep -q share_of out || { cat out && exit 1; }
  done
done

"$heed" info --devices >out
grep -qx 'gpu:0          simulated GPU, compute capability 9.0, 268.4 MB of 268.4 MB free' out || { cat out && exit 1; }
