#!/usr/bin/env bash
# document_test.sh HEED: `heed translate --document` translates the sentences of a text as lines of their
# own, keeps everything else, and refuses options that only lines have; a line that is far longer than
# those of the training is warned of once.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

cp -r "$golden/translation/opus-mt" model
translate() {
  "$heed" translate --model model --num-beams 1 --max-new-tokens 10 "$@"
}

printf '%s\n' 'The sea is old.' 'A ship went out!' 'Mr. Smith saw it.' >sentences
translate <sentences >lines
mapfile -t line <lines
printf 'The sea is old.  A ship went out!\n\n***\n\tMr. Smith saw it.\r\n' >document
printf '%s  %s\n\n***\n\t%s\r\n' "${line[0]}" "${line[1]}" "${line[2]}" >expected
translate --document --sentence-language en <document >out
cmp out expected
translate --document --input document >out </dev/null
cmp out expected

printf '<p>A <b>ship</b> went out!</p>' | translate --document --format html >out
grep -q '^<p>.*</b>.*</p>$' out

translate --document --sentence-language xx <document >out 2>err
grep -qF 'warning: heed has no list of abbreviations for the language "xx"' err
grep -q 'of the translations reached the limit of tokens and may be loops (sentences 1, 2, 3, 4): --max-new' err
refused '--confidence is printed beside lines' translate --document --confidence <document
misused '--json excludes --document' translate --document --json <document
misused '--format requires --document' translate --format html <document
refused '--resume continues lines' translate --document --resume file <document
refused 'max_sentence_tokens' translate --document --max-sentence-tokens 100000 <document

echo '{"max_source_tokens": 4}' >model/sentences.json
paste -sd' ' sentences >long
cat long long | translate >out 2>err
grep -q 'line 1 has .* tokens, and 1 more are long, and the model was trained on at most 4' err
