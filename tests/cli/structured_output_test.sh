#!/usr/bin/env bash
# structured_output_test.sh HEED: --json-schema, --regex, --grammar and --choice of heed generate and heed chat.
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

misused '--regex excludes --choice' "$heed" generate "${decoder[@]}" --prompt x --regex a --choice b
echo '{"type": "string", "minLength": 3, "maxLength": 2}' >empty.json
refused '' "$heed" generate "${decoder[@]}" --prompt x --json-schema empty.json
grep -q minLength err || { cat err && exit 1; }
refused '' "$heed" generate "${decoder[@]}" --prompt x --regex '(a'
