#!/usr/bin/env bash
# info_test.sh HEED: heed info summarises a model in 13 lines, and describes any config.json quickly
# and in little memory.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

# says LINE: the last output contains this line.
says() { grep -qxF -- "$1" out || { echo "expected \"$1\", got:" && cat out && exit 1; }; }

"$heed" info decoder >out
[[ $(wc -l <out) == 14 ]]
says 'family         llama (decoder)'
says 'parameters     18,016'
says 'layers         1'
says 'd_model        32'
says 'heads          2'
says 'head_dim       16'
says 'd_ff           64 (gated silu)'
says 'vocabulary     120'
says 'context        64 tokens (rotary positions)'
says 'tokenizer      tokenizer.model, 120 pieces'
says 'weights        none: decoder has neither model.safetensors nor model.safetensors.index.json, nor pytorch_model.bin or its index'
says 'memory         88.4 kB for 64 tokens: weights 72.1 kB (f32) + kv cache 16.4 kB (f32)'
"$heed" info decoder --context 10 >out
says 'memory         74.6 kB for 10 tokens: weights 72.1 kB (f32) + kv cache 2.6 kB (f32)'
refused "the context is 65 tokens, the model reads at most 64" "$heed" info decoder --context 65

"$heed" info encoder >out
says 'family         bert (encoder)'
says 'tokenizer      tokenizer.model, 120 pieces'

make_translator
"$heed" info translator >out
says 'family         marian (encoder-decoder)'
says 'layers         2 encoder, 2 decoder'
says 'tokenizer      source.spm, target.spm, 60 pieces'
grep -q '^weights        949.5 kB: tensors [0-9]* f32 in model.safetensors$' out

# --all has every field of the configuration, --json everything.
"$heed" info translator --all >out
grep -qx 'norm_placement  *post' out
grep -qx 'max_position_embeddings  *1024' out
"$heed" info translator --json --context 100 >out
grep -qF '"parameters":237372,"f32_bytes":949488' out
grep -qF '"memory":{"context":100,"cache_type":"f32","weight_bytes":949488,"cache_bytes":204800,"bytes":1154288}' out
grep -qF '"norm_placement":"post"' out
"$heed" quantize --model translator --weights q8_0 --out small >/dev/null
"$heed" info small >out
grep -q '^weights .* q8_0' out
grep -q '^memory .* (bf16)$' out
grep -qx 'arithmetic     int8' out

# GPUs need no model. Where heed has no kernels for them, that is the reason.

HEED_CUDA_DRIVER=./none.so "$heed" info --devices >out
grep -qE '^gpu            none: (computing on a GPU needs a library that cannot be opened: ./none.so|this heed was built without)' out
HEED_CUDA_DRIVER=libc.so.6 "$heed" info --devices >out
grep -qE "^gpu            none: (libc.so.6 has no function cuInit: it is not NVIDIA's driver|this heed was built without)" out
HEED_CUDA_DRIVER=./none.so "$heed" info decoder --devices --json >out
grep -qE '^\{"family":"llama".*"devices":\{"gpus":\[\],"missing":"[^"]+"\}\}$' out

# Whatever sizes a config.json has, describing it takes little time and memory.
mkdir hostile
marian() {
  cat <<END
{"model_type": "marian", "vocab_size": 60, "d_model": $1, "encoder_layers": $2, "decoder_layers": $2,
 "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": $3,
 "decoder_ffn_dim": $3, "activation_function": "relu", "max_position_embeddings": $4,
 "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
END
}
describe() { (ulimit -v 1000000 && timeout 20 "$heed" info hostile); }
marian 16 2 64 16777216 >hostile/config.json
describe >out
says 'context        16,777,216 tokens (sinusoidal positions)'
marian 16384 4096 16777216 16384 >hostile/config.json
describe >out
grep -q '^parameters     [0-9,]*$' out
marian 16777216 4096 16777216 16 >hostile/config.json
sed -i 's/"vocab_size": 60/"vocab_size": 16777216/; s/"\(encoder\|decoder\)_attention_heads": 4/"\1_attention_heads": 1024/g' hostile/config.json
refused "hostile/config.json: the model has more than 2^60 weights" describe
