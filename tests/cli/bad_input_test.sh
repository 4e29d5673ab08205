#!/usr/bin/env bash
# bad_input_test.sh HEED: an error message on one line names the invalid input. The answers before it
# are printed, and existing files are kept.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator

# Text that is not UTF-8. The lines before it are answered.
printf 'the sheep\nthe \xff\n' >broken.txt
broken="line 2 of standard input is not valid UTF-8: byte 5 is 0xFF"
before=1 refused "$broken" "$heed" embed "${encoder[@]}" <broken.txt
before=1 refused "$broken" "$heed" translate --model translator <broken.txt
before=1 refused "$broken" "$heed" generate "${decoder[@]}" --max-new-tokens 2 <broken.txt
refused "standard input is not valid UTF-8: byte 15 is 0xFF" \
  "$heed" score "${decoder[@]}" <broken.txt
refused "the prompt is not valid UTF-8: byte 1 is 0xFF" \
  "$heed" generate "${decoder[@]}" --prompt $'\xff'

refused "--stop is not valid UTF-8: byte 1 is 0xBD" \
  "$heed" generate "${decoder[@]}" --prompt the --json --stop $'\xbd'

# Paths that the system refuses, and control characters from files and arguments.
name=$(printf 'a%.0s' $(seq 300))
refused "$name: File name too long" "$heed" info "$name"
refused "$name: File name too long" "$heed" tokenizer encode --model "$name"
refused "$name: File name too long" "$heed" quantize --model decoder --weights q8_0 --out "$name"
ln -s loop loop
refused "loop: Too many levels of symbolic links" "$heed" info loop
refused '--model is "nowhere/v.model": the folder does not exist' \
  "$heed" tokenizer train --input a.txt --model nowhere/v.model
refused '--out is "nowhere/page.html": the folder does not exist' \
  "$heed" attend "${decoder[@]}" --text the --out nowhere/page.html
refused '--out is "page.pdf", expected a name that ends with .html or .svg' \
  "$heed" attend --model absent --text the --out page.pdf
refused "layer is 1, expected 0 to 0, the layers of the decoder" \
  "$heed" attend "${decoder[@]}" --text the --layer 1
refused 'no�[31m⏎such is not a model directory' "$heed" info $'no\e[31m\nsuch'
mkdir hostile
echo '{"model_type": "\u001b[31mred\nheed: error: forged"}' >hostile/config.json
refused 'hostile/config.json: model_type is "\u001b[31mred\nheed: error: forged"' "$heed" info hostile

# A wrong command line is refused before the model is read, with a hint at the help of the command.
misused "--num-beams: Value 1000 not in range 1 to 256 (see heed translate --help)" \
  "$heed" translate --model absent --num-beams 1000
misused "--seed: Value -1 is negative (see heed generate --help)" "$heed" generate --model absent --seed -1
misused "--tokens: An empty value is not an integer" "$heed" logits --model absent --tokens ''
misused "--stop: The value is empty" "$heed" generate --model absent --stop ''
misused "--speculate: trigram not in {ngram}" "$heed" generate --model absent --speculate trigram
misused "--speculate excludes --draft" "$heed" generate --model absent --speculate ngram --draft absent
misused "--draft-weights requires --draft" "$heed" generate --model absent --draft-weights q4_0
misused "--num-beams excludes --speculate" "$heed" generate --model absent --num-beams 2 --speculate ngram
refused "absent is neither a path here nor in the cache" "$heed" generate "${decoder[@]}" --draft absent --prompt the
refused 'device is "tpu", expected cpu, gpu, gpu:N or auto' "$heed" generate "${decoder[@]}" --device tpu --prompt the
HEED_CUDA_DRIVER=./none.so refused "computing on a GPU needs a library that cannot be opened: ./none.so" \
  "$heed" generate "${decoder[@]}" --device gpu --prompt the
HEED_CUDA_DRIVER=./none.so "$heed" generate "${decoder[@]}" --device auto --max-new-tokens 1 --prompt the >/dev/null
misused "--heatmap requires --out with a name that ends with .svg" \
  "$heed" attend --model absent --text the --heatmap --out page.html
misused "unknown argument --modl; did you mean --model? (see heed tokenizer encode --help)" "$heed" tokenizer encode --modl absent
misused "unknown command nothing (see heed --help)" "$heed" nothing

# A machine that HEED_CPU does not know.
misused 'HEED_CPU is "i386", expected baseline' env HEED_CPU=i386 "$heed" --help
misused 'HEED_CPU is "", expected baseline' env HEED_CPU= "$heed" info decoder

# Nothing to score.
for text in '' the; do
  refused "expected at least 2 tokens, found" \
    "$heed" score "${decoder[@]}" < <(printf '%s' "$text")
done
refused "encoder cannot fill masks, expected an encoder-only model with a language model head (BERT, RoBERTa); it can embed" \
  "$heed" fill "${encoder[@]}" <a.txt
# A model that cannot do what is asked says what it can, also without a line of input.
can="it can embed, show attention"
for input in /dev/null a.txt; do
  refused "encoder cannot score texts, expected a model with a decoder; $can" "$heed" score "${encoder[@]}" <$input
  refused "encoder cannot generate, expected a decoder-only model; $can" "$heed" generate "${encoder[@]}" <$input
  refused "encoder cannot translate, expected an encoder-decoder for translation; $can" \
    "$heed" translate "${encoder[@]}" <$input
  refused "encoder cannot classify texts, expected a model for the classification of texts (its config.json names the class ForSequenceClassification); $can" \
    "$heed" classify "${encoder[@]}" <$input
  refused "encoder cannot rerank, expected a cross-encoder (a classifier with one label), a model that answers yes or no, or one with a vector for each token; $can" \
    "$heed" rerank "${encoder[@]}" --query the <$input
  refused "translator cannot embed, expected an encoder-only or a decoder-only model; it can translate" \
    "$heed" embed --model translator <$input
done
refused "standard input has no pairs" "$heed" score --model translator </dev/null
refused "line 1: expected source, tab, target" "$heed" score --model translator <a.txt

# A length penalty that is not a number, and options that an encoder-only model does not support.
refused "length_penalty is nan" \
  "$heed" translate --model translator --length-penalty nan <a.txt
refused "num_beams is for models with a decoder" "$heed" bench "${encoder[@]}" --num-beams 2

# An error ends the command although standard input is still open.
mkfifo open
exec 3<>open
cat a.txt >&3
refused "line 1: expected source, tab, target" timeout 60 "$heed" score --model translator <open
exec 3>&-

# heed quantize measures first and never overwrites.
refused "calibration is for blocks of less than 8 bits, weights is q8_0" \
  "$heed" quantize --model translator --weights q8_0 --out new --calibrate a.txt
refused "an encoder-decoder is calibrated on source sentences and their translations, and there is no reference" \
  "$heed" quantize --model translator --weights q4_0 --out new --calibrate a.txt
head -3 a.txt >short.txt
refused "a.txt has 40 lines, short.txt has 3" \
  "$heed" quantize --model translator --weights q8_0 --out new --source a.txt --reference short.txt
refused 'the quantised model is ""' "$heed" quantize --model translator --weights q8_0 --out ''
refused "an encoder-decoder is measured on source sentences and their translations, and there is no reference" \
  "$heed" quantize --model translator --weights q8_0 --out new --text a.txt
[[ ! -e new ]]
"$heed" quantize --model translator --weights q8_0 --out new --source a.txt --reference b.txt >out
grep -q "BLEU" out
refused "new already exists" "$heed" quantize --model translator --weights q8_0 --out new

# heed train checks its options before it reads any text and never overwrites.
tiny=(train --preset tiny --source a.txt --target b.txt --set vocabulary.size=60 --set run.max_steps=2)
refused "the family llama cannot express this configuration: use_qk_norm is true" \
  "$heed" train --task causal-lm --text absent --set model.use_qk_norm=true --out run
refused "no training text: give data.text" "$heed" train --task causal-lm --out run
refused "$work/absent: cannot be read: No such file or directory" \
  "$heed" train --task causal-lm --text absent --out run
printf '{"text": "a"}\n' >unlabelled.jsonl
refused "$work/unlabelled.jsonl, line 1: label is missing" \
  "$heed" train --task classify --text unlabelled.jsonl --out unlabelled
refused "validation.num_beams is 1000, expected at most 256" \
  "$heed" "${tiny[@]}" --set validation.num_beams=1000 --out run
refused "run.minutes is 1e+17" "$heed" "${tiny[@]}" --minutes 1e17 --out run
refused "run has no checkpoint to resume from" "$heed" "${tiny[@]}" --resume --out run
[[ ! -e run ]]
refused 'decoder is not empty (it holds "config.json")' "$heed" "${tiny[@]}" --out decoder
refused "translator already holds a run" "$heed" "${tiny[@]}" --from translator --out translator

# Two runs cannot share a directory. A killed run leaves no lock.
"$heed" "${tiny[@]}" --set run.max_steps=1000000 --set validation.eval_steps=2 --out run 2>/dev/null &
runner=$!
for _ in $(seq 600); do [[ -e run/last/training.json ]] && break || sleep 0.1; done
refused "run is in use by process $runner" "$heed" "${tiny[@]}" --resume --out run
kill -KILL $runner
wait $runner || true
sed -i 's/the 7 sheep/the 8 sheep/' a.txt
if "$heed" "${tiny[@]}" --resume --out run 2>err; then echo "another text was taken" && exit 1; fi
grep -q "the training text has changed since the run began: 40 pairs then, 40 now with other content" err
sed -i '7s/the 8 sheep/the 7 sheep/' a.txt
"$heed" "${tiny[@]}" --resume --out run 2>/dev/null

# A translator with a vocabulary for each side scores pairs; an empty prompt begins a text.
"$heed" score --model translator --json <<<$'the 7 sheep\tthe 7 sheep' >out
[[ $(sed -n 's/.*"text":"\([^"]*\)".*/\1/p' out | tr -d '\n') == ' the 7 sheep</s>' ]]
"$heed" generate "${decoder[@]}" --prompt '' --max-new-tokens 2 >out 2>err || { cat err && exit 1; }

# A file name that is not UTF-8 is printed with U+FFFD.
mv decoder $'decoder\xbd'
"$heed" bench --model $'decoder\xbd' --random-weights 1 --prompt-tokens 4 --tokens 0 --repeat 1 --json >out
grep -q '"model":"decoder�"' out
