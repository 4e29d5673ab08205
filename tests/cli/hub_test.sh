#!/usr/bin/env bash
# hub_test.sh HEED: every command takes OWNER/NAME of a hub, a local one here, for a model.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator
server=$golden/../hub/hub_server.py

mkdir -p root/acme
cp -r decoder root/acme/decoder
mkdir -p lm
"$heed" train --task causal-lm --text a.txt --out lm --set run.max_steps=2 --set vocabulary.size=300 2>/dev/null
cp -r translator root/acme/translator
cp -r lm root/acme/lm
: >root/acme/lm/model.safetensors.lfs

coproc SERVER { exec python3 "$server" root; }
server_input=${SERVER[1]}
read -r port _ <&"${SERVER[0]}"
export HF_ENDPOINT=http://127.0.0.1:$port HF_HOME=$work/home HF_HUB_OFFLINE=0 no_proxy=127.0.0.1
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_TOKEN HF_TOKEN_PATH

# same LOCAL REMOTE COMMAND...: prints with REMOTE for MODEL what it prints with LOCAL.
same() {
  local path=$1 name=$2
  shift 2
  "${@//MODEL/$path}" <a.txt >expected 2>/dev/null
  "${@//MODEL/$name}" <a.txt >found 2>err || { echo "$*:" && cat err && exit 1; }
  diff expected found || { echo "$* differs for $name" && exit 1; }
}

# Nothing but configuration and tokenizer is downloaded by commands that need no weights.
same lm acme/lm "$heed" tokenizer encode --model MODEL
diff - err <<<"downloading acme/lm (4 files, $(sed -n 's/.*files, \(.*\)) in.*/\1/p' err))
downloaded acme/lm (4 files, $(sed -n 's/.*files, \(.*\)) in.*/\1/p' err)) in 0:00"
"$heed" info acme/lm | grep -q '^weights  *none'
! grep -q safetensors root/requests.log

same lm acme/lm "$heed" generate --model MODEL --max-new-tokens 4
same lm acme/lm@main "$heed" generate --model MODEL --max-new-tokens 4
same lm acme/lm "$heed" info MODEL
same lm acme/lm "$heed" logits --model MODEL --tokens 3,4
same lm acme/lm "$heed" score --model MODEL
same translator acme/translator "$heed" translate --model MODEL
same decoder acme/decoder "$heed" logits --model MODEL --tokens 3,4 --random-weights 1
"$heed" quantize --model acme/lm --weights q8_0 --out q8 >/dev/null
same q8 "$work/q8" "$heed" generate --model MODEL --max-new-tokens 4
"$heed" train --task causal-lm --text a.txt --from acme/lm --out tuned --set run.max_steps=1 2>/dev/null
grep -rqF "$HF_HOME/hub/models--acme--lm/snapshots/" tuned/*.toml
# ... and again, as a run that is continued.
"$heed" train --task causal-lm --text a.txt --from acme/lm --out tuned --resume 2>/dev/null
printf '[model]\nfrom = "acme/lm"\n' >from.toml
"$heed" train from.toml --task causal-lm --text a.txt --out tuned2 --set run.max_steps=1 2>/dev/null
cmp tuned/model.safetensors tuned2/model.safetensors

# Names without an owner: those that the hub redirects, and those of sentence-transformers.
mkdir root/sentence-transformers
cp -r encoder root/sentence-transformers/mini
echo '{"lm": "acme/lm"}' >root/moved.json
mkdir elsewhere
(cd elsewhere && "$heed" generate lm --prompt the --max-new-tokens 4 >../found 2>../err)
grep -q '^downloaded lm (' err
"$heed" generate acme/lm --prompt the --max-new-tokens 4 2>/dev/null | cmp - found
same encoder mini "$heed" embed MODEL --random-weights 1
grep -q '^downloading sentence-transformers/mini ' err
refused "lm-of-old is neither a path here nor in the cache $HF_HOME/hub, and $HF_ENDPOINT shows neither it nor sentence-\
transformers/lm-of-old; a model is a directory, a GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the hub" \
  "$heed" info lm-of-old
"$heed" chat 2>err && exit 1
grep -qx '  acme/lm' err

# Adapters.
"$heed" train --task causal-lm --text a.txt --from lm --lora --out root/acme/style --set run.max_steps=2 \
  --set optimizer.learning_rate=0.05 2>/dev/null
"$heed" logits --model lm --tokens 3,4 --adapter root/acme/style >expected
"$heed" logits --model lm --tokens 3,4 --adapter acme/style=0.5 --adapter acme/style@main=0.5 >found 2>err
grep -q '^downloaded acme/style (2 files, ' err
python3 - <<'END'
import json
a, b = (json.load(open(file))["logits"] for file in ("expected", "found"))
assert max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s)) < 1e-3
END
! "$heed" logits --model lm --tokens 3,4 | cmp -s - expected
same root/acme/style acme/style "$heed" generate --model lm --max-new-tokens 4 --adapter MODEL
"$heed" merge lm --adapter acme/style --out merged1 && "$heed" merge lm --adapter root/acme/style --out merged2
cmp merged1/model.safetensors merged2/model.safetensors
refused "acme/lm is not a LoRA adapter: it has no adapter_config.json" \
  "$heed" logits --model lm --tokens 3 --adapter acme/lm

# Without the hub, what was downloaded is still there.
exec {server_input}>&-
wait "$SERVER_PID" 2>/dev/null || true
"$heed" generate --model acme/lm --prompt the --max-new-tokens 4 &>/dev/null
refused "acme/absent is neither a path here nor in the cache $HF_HOME/hub, and $HF_ENDPOINT cannot be reached" \
  "$heed" generate --model acme/absent --prompt the
refused "acme/absent is neither a path here nor in the cache $HF_HOME/hub, and the hub may not be asked (HF_HUB_OFFLINE)" \
  env HF_HUB_OFFLINE=1 "$heed" info acme/absent
refused "acme/lm@../x: the revision is" "$heed" info acme/lm@../x
