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

# A translation that the limit cuts off is no silent loop: a warning at the end names its line.
head -12 a.txt | "$heed" translate --model translator --max-new-tokens 1 --json >out 2>err
[[ $(grep -c '"complete":false' out) -gt 10 ]]
[[ $(wc -l <err) == 1 ]]
grep -qE '^heed: warning: 1[0-9] of the translations .*\(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\.\)' err
head -12 a.txt | "$heed" translate --model translator --max-new-tokens 1 >text 2>err
[[ $(wc -l <text) == 12 && $(wc -l <err) == 1 ]]
# A byte order mark is no text, in a file and on standard input.
head -3 a.txt >plain.txt
printf '\xef\xbb\xbf' | cat - plain.txt >marked.txt
for metric in bleu chrf; do
  for file in plain.txt marked.txt; do
    "$heed" evaluate "$metric" --json --reference marked.txt <"$file" | grep -q '"score":100\.0'
  done
done
same_with_mark() {
  "$@" <marked.txt >marked.out 2>/dev/null
  "$@" <plain.txt >plain.out 2>/dev/null
  [[ -s plain.out ]] && cmp marked.out plain.out
}
same_with_mark "$heed" embed "${encoder[@]}"
same_with_mark "$heed" translate --model translator
same_with_mark "$heed" generate "${decoder[@]}" --max-new-tokens 2
same_with_mark "$heed" score "${decoder[@]}"
echo '{{ messages[0].content }}' >chat.jinja
same_with_mark "$heed" chat "${decoder[@]}" --chat-template chat.jinja --max-new-tokens 2
