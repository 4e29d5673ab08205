#!/usr/bin/env bash
# library_test.sh HEED PROGRAMS: the programs of docs/cpp.md, which are those of examples/library/, talk and generate as
# the program does.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/../cli/common.sh" "$1"
programs=$2
sources=$golden/../../examples/library
diff <(awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' "$golden/../../docs/cpp.md") \
  <(cat "$sources"/{chat,session}.cc)

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
"$heed" train --task causal-lm --text a.txt --out talks --set run.max_steps=2 --set vocabulary.size=300 2>/dev/null
echo "{% for message in messages %}{{ message.role + ': ' + message.content + ' ' }}{% endfor %}" >talks/chat_template.jinja
sed -i -E 's/("max_position_embeddings": *)[0-9]+/\14096/' talks/config.json  # room for two answers

printf 'Hello!\nWhy?\n' >lines
"$programs/library_chat" talks <lines >out
"$heed" chat talks --system 'Answer briefly.' --max-new-tokens 200 --temperature 0.7 --seed 7 --history '' <lines >expected \
  2>/dev/null
sed 's/ \[\.\.\.\]$//' out | cmp - expected
! "$programs/library_chat" decoder </dev/null 2>err
grep -q 'decoder has neither model.safetensors' err

"$programs/library_session" talks >out
[[ $(wc -l <out) -ge 3 ]]
first=$(grep '^1: ' out | cut -c 4-)
[[ $first == "$("$heed" generate talks --prompt 'Once upon a time' --max-new-tokens 20 2>/dev/null)" ]]
third=$(grep '^3: ' out | cut -c 4-)
whole=$("$heed" generate talks --prompt 'A ship' 2>/dev/null)
[[ $whole == "$third"* && -n $third && ${#third} -lt ${#whole} ]]
