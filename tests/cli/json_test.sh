#!/usr/bin/env bash
# json_test.sh HEED: with --json attend, tokenizer and train print lines of JSON; indices in all outputs count from 0.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator

"$heed" attend translator --source 'the 7 sheep' --target 'the 7 sheep' --json >out
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("out")]
assert sorted({line["kind"] for line in lines}) == ["cross", "decoder_self", "encoder_self"], lines
assert min(line["layer"] for line in lines) == 0 and all(line["first_head"] == 0 for line in lines)
for line in lines:
    for head in line["weights"]:
        assert len(head) == len(line["queries"])
        assert all(len(row) == len(line["keys"]) and abs(sum(row) - 1) < 1e-3 for row in head), line
END
"$heed" attend translator --source 'the 7 sheep' --kind encoder_self --layer 0 --head 1 --json >out
python3 -c 'import json; a = json.loads(open("out").read()); assert (a["layer"], a["first_head"], len(a["weights"])) == (0, 1, 1)'
misused "--out excludes --json" "$heed" attend translator --source the --json --out page.html

printf 'the sea\n' >lines
"$heed" tokenizer encode decoder --json <lines >out
python3 - <<'END'
import json
line = json.loads(open("out").read())
assert len(line["ids"]) == len(line["pieces"]) == len(line["offsets"]) and line["offsets"][-1][1] == 7, line
END
[[ $("$heed" tokenizer encode decoder <lines | "$heed" tokenizer decode decoder --json) == '{"text":"the sea"}' ]]
"$heed" tokenizer train --input a.txt --size 60 --model new.model --json >out 2>err
grep -qx '{"file":"new.model","vocab_size":60}' out
[[ ! -s err ]]

"$heed" train --preset tiny --source a.txt --target b.txt --out run --json --set run.max_steps=2 \
  --set vocabulary.size=60 --set validation.eval_steps=1 >out 2>err
[[ ! -s err ]]
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("out")]
steps = [line for line in lines if line["event"] == "step"]
assert [line["step"] for line in steps] == [1, 2] and all(line["loss"] > 0 for line in steps), lines
assert any(line["event"] == "validation" and "bleu" in line for line in lines), lines
assert lines[-1]["event"] == "end" and lines[-1]["finished"] and lines[-1]["model"] == "run", lines
END

# Indices.
printf 'the 7 sheep\tthe 7 sheep\n' >pairs
cut -f 1 pairs >sources
[[ $("$heed" translate translator --json <sources | grep -c '^{"line":0,') == 1 ]]
[[ $("$heed" translate translator --nbest 1 --scores <sources | grep -c '^0 ||| ') == 1 ]]
[[ $("$heed" score translator --json <pairs | grep -c '^{"line":0,') == 1 ]]
[[ $("$heed" score translator <pairs | grep -c '^0 ||| ') == 1 ]]
[[ $("$heed" generate decoder --random-weights 1 --max-new-tokens 1 --json <sources | grep -c '^{"prompt":0,') == 1 ]]
