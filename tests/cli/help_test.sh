#!/usr/bin/env bash
# help_test.sh HEED: the help is grouped and at most 100 columns wide; what is misspelt is answered with what may have
# been meant; a model needs no --model where it cannot be taken for something else, and a missing one is asked for.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
export HF_HOME=$work/hub

# heed alone, heed help and heed --help are the same; so are the two ways of asking for that of a command.
"$heed" --help >help
for words in '' help; do
  # shellcheck disable=SC2086  # none, or a word
  "$heed" $words | cmp - help
done
"$heed" help tokenizer train | cmp - <("$heed" tokenizer train --help)
"$heed" tokenizer | cmp - <("$heed" help tokenizer)
grep -qx 'Train and change models:' help
"$heed" help generate >help
for group in Options Sampling 'Form of the output' 'Loading the model' General; do grep -qx "$group:" help; done

commands=$("$heed" | sed -n '/^Options:/q; s/^  \([a-z][a-z-]*\) .*/\1/p')
for command in '' $commands 'tokenizer train' 'tokenizer encode' 'tokenizer decode'; do
  # shellcheck disable=SC2086  # words
  "$heed" help $command >help
  if grep -nE '.{101}' help; then echo "heed help $command is wider than 100 columns" && exit 1; fi
  case $command in
    chat | detect | generate | serve | train) grep -q -- '^  --seed UINT' help ;;
    *) if grep -- --seed help; then echo "$command has --seed" && exit 1; fi ;;
  esac
done

misused "unknown command genrate; did you mean generate? (see heed --help)" "$heed" genrate
misused "unknown command enc; did you mean encode? (see heed tokenizer --help)" "$heed" tokenizer enc
misused "heed tokenizer has no command trian; did you mean train?" "$heed" help tokenizer trian
misused "unknown argument --max-token; did you mean --max-new-tokens?" "$heed" generate decoder --max-token 3
misused "unknown argument --wieghts=f32; did you mean --weights?" "$heed" embed encoder --wieghts=f32
misused "--weights: Q4_0 not in {stored,f32,bf16,q8_0,q6_K,q5_1,q5_0,q5_K,q4_1,q4_0,q4_K}; did you mean q4_0?" \
  "$heed" generate decoder --weights Q4_0
misused "--weights: iq3_xxs not in {bf16,q8_0,q6_K,q5_1,q5_0,q5_K,q4_1,q4_0,q4_K} (see" \
  "$heed" quantize decoder --weights iq3_xxs --out out
misused "unknown command nothing (see heed --help)" "$heed" nothing

# The model by its position.
random=(--random-weights 1)
for way in "decoder" "--model decoder"; do
  # shellcheck disable=SC2086  # words
  "$heed" generate $way "${random[@]}" --prompt the --max-new-tokens 4 2>/dev/null
done | sort | uniq -c | grep -q '^ *2 '
echo 'the sheep' >lines
"$heed" embed encoder "${random[@]}" <lines >found
"$heed" embed --model encoder "${random[@]}" <lines | cmp - found
"$heed" tokenizer encode decoder <lines >found
"$heed" tokenizer encode --model decoder <lines | cmp - found
misused "--model: At Most 1 required but received 2" "$heed" generate decoder --model decoder --prompt the

# needs_model MESSAGE COMMAND...: says what to type, and which models are in the cache.
needs_model() {
  local status=0
  "${@:2}" >out 2>err </dev/null || status=$?
  [[ $status == 2 && ! -s out ]]
  head -n 1 err | grep -qxF "heed: error: $1"
  grep -qF 'MODEL is a model directory, a GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the' err
}
for command in chat serve generate translate embed 'tokenizer encode'; do
  # shellcheck disable=SC2086  # words
  needs_model "heed $command needs a model: heed $command MODEL (see heed $command --help)" "$heed" $command
  [[ $(tail -n 1 err) == 'No model is in the cache yet.' ]]
done
needs_model "heed fill needs a model: heed fill --model MODEL (see heed fill --help)" "$heed" fill
needs_model "heed info needs a model: heed info MODEL; or --devices (see heed info --help)" "$heed" info
needs_model "heed bench needs a model: heed bench MODEL; or --limits (see heed bench --help)" "$heed" bench
commit=0123456789abcdef0123456789abcdef01234567
mkdir -p "$HF_HOME/hub/models--acme--tiny/"{refs,snapshots/$commit}
printf %s $commit >"$HF_HOME/hub/models--acme--tiny/refs/main"
touch "$HF_HOME/hub/models--acme--tiny/snapshots/$commit/"{config.json,model.safetensors,x.gguf}
needs_model "heed chat needs a model: heed chat MODEL (see heed chat --help)" "$heed" chat
diff <(tail -n 3 err) - <<'END'
In the cache:
  acme/tiny
  acme/tiny:x.gguf
END
echo 'port = 8080' >serve.toml
refused "there is no model to serve: serve.toml names none" "$heed" serve --config serve.toml
