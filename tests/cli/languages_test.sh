#!/usr/bin/env bash
# languages_test.sh HEED: translators of the published shapes (tests/golden/translation) translate from
# the command line; a multilingual one that is not told its languages answers with some codes.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

translate() {
  local folder=$golden/translation/$1
  shift
  python3 - "$folder/expected.json" >lines 2>expected <<'PYTHON'
import json, sys
for line in json.load(open(sys.argv[1]))["lines"]:
    print(line["text"])
    print(line["translated"], file=sys.stderr)
PYTHON
  "$heed" translate --model "$folder" --num-beams 1 --max-new-tokens 10 "$@" <lines >out
  cmp out expected
}

translate opus-mt
translate opus-mt-separate
translate opus-mt-multi --target-language fra
translate m2m-100 --source-language en --target-language fr
translate nllb --source-language eng_Latn --target-language fra_Latn
translate mbart --source-language en_XX --target-language ro_RO
translate mbart-50 --source-language en_XX --target-language de_DE

# OPUS-MT's lines may name the target language themselves.
translate opus-mt-multi --target-language fra
sed 's/^/>>fra<< /' lines >marked
"$heed" translate --model "$golden/translation/opus-mt-multi" --num-beams 1 --max-new-tokens 10 \
  <marked >out
cmp out expected

nllb=(translate --model "$golden/translation/nllb")
refused "the target language is not given, expected one of the model's 202: ace_Arab, " \
  "$heed" "${nllb[@]}" --source-language eng_Latn <lines
refused "the source language is not given, expected one of the model's 202: ace_Arab, " \
  "$heed" "${nllb[@]}" --target-language fra_Latn <lines
refused 'the target language is "fr", expected one of the model'"'s 202: fra_Latn, " \
  "$heed" "${nllb[@]}" --source-language eng_Latn --target-language fr <lines
refused 'the target language is "fr", but this model has no choice of it' \
  "$heed" translate --model "$golden/translation/opus-mt" --target-language fr <lines
refused "line 1: the target language is not given, expected one of the model's 2: deu, fra" \
  "$heed" translate --model "$golden/translation/opus-mt-multi" <lines

# Attention, of a translation into the language that is asked for.
"$heed" attend --model "$golden/translation/nllb" --source-language eng_Latn --target-language fra_Latn \
  --source 'The old house.' --target 'La maison.' >out 2>err
grep -q fra_Latn out
refused "the target language is not given, expected one of the model's 202: ace_Arab, " \
  "$heed" attend --model "$golden/translation/nllb" --source 'The old house.'
refused 'the language "fr" was given, but this model does not translate' \
  "$heed" attend "${encoder[@]}" --target-language fr --source sheep
