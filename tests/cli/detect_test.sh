#!/usr/bin/env bash
# detect_test.sh HEED: tells the language of each line, learns an identifier of its own, and translates
# from the language of each line.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

printf 'Wie heißt du denn heute?\n\nWhere is the house of my brother?\n1234\n' >lines
"$heed" detect <lines >out
[[ $(cut -d ' ' -f 1 out | tr '\n' ' ') == 'de und en und ' ]]
"$heed" detect --languages de,nl --top 2 lines | sed -n 1p | grep -qP '^de [01]\.\d{4}\tnl [01]\.\d{4}$'
"$heed" detect --json <lines | sed -n 2p | grep -qx '{"languages":\[\]}'
"$heed" detect --json --top 1 <lines | sed -n 1p | grep -q '^{"languages":\[{"language":"de","probability":[01]\.'
"$heed" detect --list >list
grep -qx en list
refused '"xx" is not a language that can be detected, expected some of af, ' "$heed" detect --languages en,xx <lines
refused 'no-such-file: ' "$heed" detect no-such-file

for _ in {1..40}; do echo 'kt trk psk'; done >xb.txt
for _ in {1..40}; do echo 'aio eua oie'; done >xa.txt
"$heed" detect --train xa.txt xb.txt --examples 500 --out own.bin 2>err
grep -q 'an identifier of 2 languages written to own.bin' err
[[ $(echo 'psk kt' | "$heed" detect --identifier own.bin) == 'xb '* ]]
refused 'xa.txt: this is no file of a language identifier' "$heed" detect --identifier xa.txt <lines
misused '--train requires --out' "$heed" detect --train xa.txt xb.txt

# "auto" is the language of each line.
cat >lines <<'END'
the old house of the king by the sea
la vieille maison du roi et de la reine
END
nllb=(translate --model "$golden/translation/nllb" --num-beams 1 --max-new-tokens 10 --target-language deu_Latn)
"$heed" "${nllb[@]}" --source-language auto <lines >out
head -1 lines | "$heed" "${nllb[@]}" --source-language eng_Latn >expected
tail -1 lines | "$heed" "${nllb[@]}" --source-language fra_Latn >>expected
cmp out expected
echo 'བོད་སྐད་' >unknown
refused 'line 1: the language cannot be told' "$heed" "${nllb[@]}" --source-language auto <unknown
refused 'line 1: the source language is "auto", and the model has no source languages to choose from' \
  "$heed" translate --model "$golden/translation/opus-mt" --source-language auto <lines
