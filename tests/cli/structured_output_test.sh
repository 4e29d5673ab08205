#!/usr/bin/env bash
# structured_output_test.sh HEED: --json-schema, --regex, --grammar and --choice of heed generate and heed chat.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

generate() { "$heed" generate "${decoder[@]}" --prompt 'the sheep' --max-new-tokens 60 --temperature 1.5 "$@" 2>err; }

generate --regex '(ba){2,4}!' >out
grep -qE '^(the sheep)?(ba){2,4}!$' out || { cat out err && exit 1; }
generate --choice went,came --seed 3 >out
grep -qE '(went|came)$' out || { cat out err && exit 1; }
echo '{"type": "array", "items": {"enum": [1, 2]}, "minItems": 3, "maxItems": 3}' >three.json
generate --json-schema three.json --json >out
python3 -c 'import json; assert len(json.loads(json.load(open("out"))["text"])) == 3' || { cat out err && exit 1; }
printf 'root ::= "a" [bc]+ "."\n' >abc.gbnf
printf 'start: "a" /[bc]+/ "."\n' >abc.lark
for grammar in abc.gbnf abc.lark; do
  generate --grammar "$grammar" >out
  grep -qE 'a[bc]+\.?$' out || { cat out err && exit 1; }
done

misused '--choice excludes --regex' "$heed" generate "${decoder[@]}" --prompt x --regex a --choice b
echo '{"type": "string", "minLength": 3, "maxLength": 2}' >empty.json
refused '' "$heed" generate "${decoder[@]}" --prompt x --json-schema empty.json
grep -q minLength err || { cat err && exit 1; }
refused '' "$heed" generate "${decoder[@]}" --prompt x --regex '(a'
