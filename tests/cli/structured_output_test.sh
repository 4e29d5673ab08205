#!/usr/bin/env bash
# structured_output_test.sh HEED: --json-schema, --white-space, --regex, --grammar and --choice of heed generate and
# heed chat.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

generate() { "$heed" generate "${decoder[@]}" --prompt 'the sheep' --max-new-tokens 60 --temperature 1.5 "$@" 2>err; }

generate --regex '(ba){2,4}!' >out
grep -qE '^(the sheep)?(ba){2,4}!$' out || { cat out err && exit 1; }
generate --choice went,came --seed 3 >out
grep -qE '(went|came)$' out || { cat out err && exit 1; }
echo '{"type": "boolean"}' >boolean.json
generate --json-schema boolean.json >out
grep -qE '(true|false)$' out || { cat out err && exit 1; }
printf 'root ::= "a" [bc]+ "."\n' >abc.gbnf
printf 'start: "a" /[bc]+/ "."\n' >abc.lark
for grammar in abc.gbnf abc.lark; do
  generate --grammar "$grammar" >out
  grep -qE 'a[bc]+\.?$' out || { cat out err && exit 1; }
done

# White space is chosen, and keywords that assert nothing are named once.
echo '{"const": ["a", {"b": null}], "colour": {}, "title": "x"}' >constant.json
mkdir bytes
cp constant.json words.txt
"$heed" tokenizer train --input words.txt --model bytes/tokenizer.json --kind byte-level-bpe --size 260 2>/dev/null
sed 's/"vocab_size": 120/"vocab_size": 260/; s/"eos_token_id": 1/"eos_token_id": 259/' decoder/config.json >bytes/config.json
for choice in 'compact ["a",{"b":null}]' 'spaced ["a", {"b": null}]'; do
  "$heed" generate --model bytes --random-weights 1 --prompt x --json-schema constant.json \
    --white-space "${choice%% *}" >out 2>err
  grep -qxF "${choice#* }" out || { cat out err && exit 1; }
  [[ $(grep -c 'warning: these keywords of the JSON Schema assert nothing: colour$' err) == 1 ]] || { cat err && exit 1; }
done
misused '--white-space requires --json-schema' "$heed" generate "${decoder[@]}" --prompt x --white-space compact
misused '--white-space' "$heed" generate "${decoder[@]}" --prompt x --json-schema constant.json --white-space none

misused '--regex excludes --choice' "$heed" generate "${decoder[@]}" --prompt x --regex a --choice b
echo '{"type": "string", "minLength": 3, "maxLength": 2}' >empty.json
refused '' "$heed" generate "${decoder[@]}" --prompt x --json-schema empty.json
grep -q minLength err || { cat err && exit 1; }
refused '' "$heed" generate "${decoder[@]}" --prompt x --regex '(a'
