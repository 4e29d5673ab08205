#!/usr/bin/env bash
# lines_test.sh HEED: all lines of standard input before the first invalid one are answered in order,
# however fast they arrive. The error names the invalid line.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator

mkdir filler
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the sheep >filler/vocab.txt
sed 's/120/7, "architectures": ["BertForMaskedLM"]/' encoder/config.json >filler/config.json
filler=(--model filler --random-weights 1)

# 100 lines, one of which is too long, or empty.
long=$(printf 'sheep %.0s' $(seq 2000))
for i in $(seq 100); do [[ $i == 61 ]] && echo "$long" || echo "the $i sheep"; done >long.txt
for i in $(seq 100); do [[ $i == 61 ]] && echo || echo "the $i sheep"; done >empty.txt
slowly() { while IFS= read -r line; do echo "$line"; [[ $((++i % 20)) != 0 ]] || sleep 0.1; done <"$1"; }

for arrival in cat slowly; do
  before=60
  refused "line 61: " "$heed" translate --model translator --num-beams 2 < <($arrival long.txt)
  refused "prompt 61: " "$heed" generate "${decoder[@]}" --max-new-tokens 2 --temperature 1 \
    < <($arrival long.txt)
  refused "prompt 61: " "$heed" generate "${decoder[@]}" --max-new-tokens 2 --num-beams 2 \
    < <($arrival long.txt)
  refused "text 61: no tokens" "$heed" embed "${encoder[@]}" < <($arrival empty.txt)
  before=2
  refused "line 3: the text has no mask" "$heed" fill "${filler[@]}" --top 1 --json \
    < <($arrival <(printf 'the [MASK]\n<mask> sheep\nsheep\nthe [MASK]\n'))
  refused "line 3: expected source, tab, target" "$heed" score --model translator \
    < <($arrival <(printf 'a\tb\nthe\tsheep\nsheep\na\tb\n'))
  refused 'line 3: "x" is not a token id' "$heed" tokenizer decode --model decoder \
    < <($arrival <(printf '5\n6\n7 x\n8\n'))
done

# The answers before an error equal those of a run without the error.
head -60 long.txt >good.txt
"$heed" translate --model translator --scores <good.txt >expected
"$heed" translate --model translator --scores <long.txt >out 2>/dev/null || true
cmp out expected
"$heed" generate "${decoder[@]}" --max-new-tokens 4 --temperature 1 --json <good.txt >expected 2>/dev/null
"$heed" generate "${decoder[@]}" --max-new-tokens 4 --temperature 1 --json <long.txt >out 2>/dev/null || true
cmp out expected

# Standard input that cannot be read is an error, not an empty text.
before=
unreadable="standard input cannot be read: Is a directory"
refused "$unreadable" "$heed" embed "${encoder[@]}" </
refused "$unreadable" "$heed" score "${decoder[@]}" </
refused "$unreadable" "$heed" score --model translator </
refused "$unreadable" "$heed" tokenizer encode --model decoder </
refused "$unreadable" "$heed" tokenizer decode --model decoder </
refused "$unreadable" "$heed" evaluate bleu --reference a.txt </
