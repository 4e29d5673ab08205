#!/usr/bin/env bash
# confidence_test.sh HEED: a translator without a calibration says how to make one; `heed evaluate
# confidence --calibrate` makes it, and `heed translate` then prints confidences, marks what a person
# should read and writes a page. Two models translate in two steps.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

cp -r "$golden/translation/opus-mt" model
translate() {
  "$heed" translate model --num-beams 1 --max-new-tokens 10 "$@"
}
for line in 'The sea is old.' 'A ship went out!' 'The ship is old.'; do
  for more in '' ' The sea.' ' Old ships went.' ' It is.' ' A sea!' ' Out.' ' Went.' ' Is it?' ' Old.'; do
    echo "$line$more"
  done
done >source
translate <source | sed '1~2s/.*/0 0/' >reference
: >empty

for option in --confidence '--min-confidence 0.5' '--review page.html'; do
  # shellcheck disable=SC2086
  refused 'model has no calibration of its confidence (confidence.json), and the probabilities' \
    "$heed" translate model $option <source
done
refused 'model has no calibration' "$heed" translate model --confidence <empty
refused 'model has no calibration' "$heed" evaluate confidence model --source source --reference reference

"$heed" evaluate confidence model --source source --reference reference --calibrate --num-beams 1 >report
grep -q '^expected calibration error of words: .* (before calibration ' report
[[ -s model/confidence.json ]]
"$heed" evaluate confidence model --source source --reference reference --num-beams 1 --json |
  python3 -c 'import json, sys
report = json.load(sys.stdin)
assert report["sentences"] == 27 and report["words"] >= 200, report
assert report["word_error"] < report["uncalibrated_word_error"], report'

translate <source >plain
translate --confidence <source >columns
cut -d'|' -f4 columns | sed 's/^ //; s/ $//' >texts
cmp texts plain
translate --min-confidence 0.6 --review page.html <source >marked 2>err
grep -q '^heed: [0-9]* of 27 lines should be read' err
sed 's/^\[?\] //; s/\[\[//g; s/\]\]//g' marked >texts
cmp texts plain
grep -q '\[\[' marked
grep -q '<td>27</td>' page.html
translate --json --min-confidence 0.6 <source | python3 -c 'import json, sys
for line in sys.stdin:
    for one in json.loads(line)["translations"]:
        assert one["review"] == (one["confidence"] < 0.6 or not one["complete"]), one
        assert "".join(word["text"] for word in one["words"]) == "".join(one["text"].split()), one
        assert all(word["review"] == (word["confidence"] < 0.6) for word in one["words"]), one'
paste -sd' ' source | head -c 200 | translate --document --review page.html 2>err >out
grep -q 'sentences should be read' err
grep -q '<table>' page.html
misused '--min-confidence' "$heed" translate model --min-confidence 2 <source

# Two steps.
translate <source >between
"$heed" translate model --num-beams 1 --max-new-tokens 10 <between >twice
translate --then model <source >out
cmp out twice
translate --then model --json <source | python3 -c 'import json, sys
between = open("between").read().splitlines()
assert [json.loads(line)["pivot"] for line in sys.stdin] == between'
refused 'via is "xx", which is no language that the model translates into' \
  "$heed" translate "$golden/translation/nllb" --via xx --source-language eng_Latn \
  --target-language fra_Latn <source
