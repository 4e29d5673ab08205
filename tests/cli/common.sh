# Sourced by the tests of the program: a working directory, models, and a check of error messages.
# shellcheck shell=bash disable=SC2034  # variables of the tests
set -euo pipefail
heed=$1
golden=$(cd "$(dirname "${BASH_SOURCE[0]}")/../golden" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
export HF_HUB_OFFLINE=1  # no test asks the hub by mistake

# refused MESSAGE COMMAND...: the command prints `before` lines, then fails with status `expected_status`
# and a single line that begins with the message.
before=
expected_status=1
refused() {
  local message=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  if [[ $status != "$expected_status" || $(wc -l <err) != 1 ]] || ! grep -qF "heed: error: $message" err; then
    echo "$*: expected \"$message\", got status $status and:" && cat err && exit 1
  fi
  if [[ $(wc -l <out) != "${before:-0}" ]]; then
    echo "$*: expected ${before:-0} lines before the error, got:" && cat out && exit 1
  fi
}

# misused MESSAGE COMMAND...: the command line is wrong.
misused() {
  expected_status=2 refused "$@"
}

# A decoder and an encoder with random weights.
for kind in decoder encoder; do
  mkdir "$kind"
  cp "$golden/sentencepiece/bpe.model" "$kind/tokenizer.model"
  echo '{"add_bos_token": false, "add_eos_token": false}' >"$kind/tokenizer_config.json"
done
cat >decoder/config.json <<END
{"model_type": "llama", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64,
 "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64,
 "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 1}
END
cat >encoder/config.json <<END
{"model_type": "bert", "vocab_size": 120, "hidden_size": 32, "intermediate_size": 64,
 "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64, "hidden_act": "gelu"}
END
decoder=(--model decoder --random-weights 1)
encoder=(--model encoder --random-weights 1)

# A translator trained for two steps on a.txt and b.txt.
make_translator() {
  for i in $(seq 40); do echo "the $i sheep went in"; done >a.txt
  sed 's/went in/came out/' a.txt >b.txt
  "$heed" train --preset tiny --source a.txt --target b.txt --out translator --set run.max_steps=2 \
    --set vocabulary.size=60 --set model.norm_placement=post 2>/dev/null
}
