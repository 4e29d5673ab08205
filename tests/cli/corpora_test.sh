#!/usr/bin/env bash
# corpora_test.sh HEED: a model is trained on several corpora for several languages, and translates between those that it
# is asked for.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

for i in $(seq 120); do echo "the $i sheep"; done >a.en
sed 's/the/la/; s/sheep/oveja/' a.en >a.es
head -60 a.en >b.en
sed 's/the/das/; s/sheep/Schaf/' b.en >b.de
tiny=(--preset tiny --set model.d_model=16 --set model.d_ff=32 --set model.encoder_layers=1
  --set model.decoder_layers=1 --set vocabulary.size=60 --set run.max_steps=4 --set run.token_budget=256
  --set validation.sentences=4 --threads 1)

"$heed" train --data a.en a.es 3 --data b.en b.de 1 --languages target "${tiny[@]}" --out model 2>log
grep -q 'translates into de, es' log
grep -q 'a.en: 1.. pairs, drawn 12. times in an epoch' log
"$heed" info model | grep -x 'languages      into de, es'
"$heed" translate --model model --target-language es <b.en >/dev/null 2>&1
refused "line 1: the target language is not given, expected one of the model's 2: de, es" \
  "$heed" translate --model model <b.en
"$heed" train --resume --data a.en a.es 3 --data b.en b.de 1 --languages target "${tiny[@]}" --out model 2>log
grep -q 'already finished' log
refused 'data.corpora is [' "$heed" train --resume --data a.en a.es 2 --data b.en b.de 1 --out model

# Both languages' tokens, and codes that are not the files' extensions.
"$heed" train --data a.en a.es eng spa --data b.de b.en deu eng --valid-data b.de b.en deu eng --languages both \
  "${tiny[@]}" --out both 2>log
"$heed" info both | grep -x 'languages      from deu, eng into eng, spa'
"$heed" info both --json | grep -q '"languages":\["eng","spa"\],"source_languages":\["deu","eng"\]'
"$heed" translate --model both --source-language deu --target-language spa <b.de >/dev/null 2>&1

misused '--data: --out stands where a value is expected' "$heed" train --data a.en --out model2
misused '--data: the source language is 3, which is a number' "$heed" train --data a.en a.es 3 en --out model2
misused '--data: the weight is x' "$heed" train --data a.en a.es x --out model2
refused '1 of the 2 corpora of data.corpora have a weight' \
  "$heed" train --preset tiny --data a.en a.es --data b.en b.de 2 --out model2
refused "$work/missing.en: cannot be read" "$heed" train --preset tiny --data missing.en b.de --out model2
[[ ! -e model2 ]]
