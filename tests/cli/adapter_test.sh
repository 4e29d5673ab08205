#!/usr/bin/env bash
# adapter_test.sh HEED: an adapter that heed train --lora has made runs with its model, is merged into it
# with the same outputs, and is refused by other models and when it is damaged.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh"

for i in $(seq 60); do echo "the $i sheep went in and the $i goats came out"; done >text.txt
quick=(--set run.minutes=0 --set run.num_train_epochs=0 --set validation.samples=0)
"$heed" train --task causal-lm --text text.txt --preset llama-tiny --out base --set vocabulary.size=300 \
  --set model.d_model=48 --set model.decoder_layers=2 --set run.max_steps=2 "${quick[@]}" 2>/dev/null
"$heed" train --task causal-lm --text text.txt --from base --lora --out adapter --set run.max_steps=4 \
  --set optimizer.learning_rate=0.05 --set lora.rank=3 "${quick[@]}" 2>log
grep -q "^adapter: .* parameters, of rank 3$" log
[[ ! -e adapter/model.safetensors && -e adapter/last/optimizer.safetensors ]]

# The adapter changes the logits; at scale 0 it does not, twice one half is one.
logits() { "$heed" logits --tokens 12,7,30,41 "$@"; }
logits --model base >plain
logits --model base --adapter adapter >adapted
! cmp -s plain adapted
cmp <(logits --model base --adapter adapter=0) plain
close() { # FILE FILE: equal numbers but for rounding
  python3 - "$1" "$2" <<'END'
import json, sys
a, b = (json.load(open(file))["logits"] for file in sys.argv[1:])
assert max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s)) < 1e-3
END
}
cp -r adapter again
logits --model base --adapter adapter=0.5 --adapter again/=0.5 >halves
close halves adapted

"$heed" merge base --adapter adapter --out merged
logits --model merged >sum
close sum adapted
[[ $("$heed" generate --model merged --prompt "the 7" --max-new-tokens 8 2>/dev/null) == \
   $("$heed" generate --model base --adapter adapter --prompt "the 7" --max-new-tokens 8 2>/dev/null) ]]
refused "merged already exists" "$heed" merge base --adapter adapter --out merged
cmp <(cd base && cat tokenizer.json) merged/tokenizer.json

# Adapters that do not fit.
run=("$heed" logits --tokens 1 --model base --adapter)
refused "none is not the directory of an adapter: it does not exist" "${run[@]}" none
refused "adapter/adapter_model.safetensors: base_model.model.model.layers.0.mlp.down_proj.lora_A.weight is" \
  "$heed" logits --tokens 1 "${decoder[@]}" --adapter adapter
damaged() { # NAME: a copy of the adapter
  rm -rf "$1" && cp -r adapter "$1"
}
damaged short && head -c 900 adapter/adapter_model.safetensors >short/adapter_model.safetensors
refused "short/adapter_model.safetensors: " "${run[@]}" short
damaged pickle && mv pickle/adapter_model.safetensors pickle/adapter_model.bin
refused "pickle/adapter_model.bin: is not a file of torch.save" "${run[@]}" pickle
with() { # NAME KEY JSON: a copy whose adapter_config.json has another value
  damaged "$1"
  python3 - "$1/adapter_config.json" "$2" "$3" <<'END'
import json, sys
file, key, value = sys.argv[1:]
config = json.load(open(file)) | {key: json.loads(value)}
json.dump(config, open(file, "w"))
END
}
with dora use_dora true && refused "dora/adapter_config.json: use_dora is true" "${run[@]}" dora
with ia3 peft_type '"IA3"' && refused "ia3/adapter_config.json: peft_type is \"IA3\"" "${run[@]}" ia3
with bias bias '"all"' && refused "bias/adapter_config.json: bias is \"all\"" "${run[@]}" bias
with saved modules_to_save '["lm_head"]' &&
  refused "saved/adapter_config.json: modules_to_save is [\"lm_head\"]" "${run[@]}" saved
with alpha lora_alpha 1e300 && refused "alpha/adapter_config.json: lora_alpha is" "${run[@]}" alpha
with list alpha_pattern '[1]' && refused "list/adapter_config.json: alpha_pattern is [1]" "${run[@]}" list
with open alpha_pattern '{"(": 1}' && refused "open/adapter_config.json: alpha_pattern" "${run[@]}" open
with deep alpha_pattern "$(printf '[%.0s' $(seq 2000); printf ']%.0s' $(seq 2000))" 2>/dev/null &&
  refused "deep/adapter_config.json" "${run[@]}" deep
refused "the scale of the adapter \"adapter\" is inf" "${run[@]}" adapter=inf
