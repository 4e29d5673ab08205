#!/usr/bin/env bash
# chat_test.sh HEED: heed chat and heed generate --chat.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

cat >decoder/chat_template.jinja <<'END'
{%- for message in messages %}{{ message.role + ': ' + message.content + '</s>' }}{% endfor %}
{%- if add_generation_prompt %}{{ 'assistant: ' }}{% endif -%}
END
sed -i 's/"max_position_embeddings": 64/"max_position_embeddings": 4096/' decoder/config.json
export XDG_STATE_HOME=$work/state

# Each line of --chat is a conversation; the answer is a message in OpenAI's form.
cat >chats.jsonl <<'END'
[{"role": "user", "content": "the sheep"}]
{"messages": [{"role": "user", "content": "</s> went"}], "tools": [{"type": "function", "function": {"name": "add"}}]}
END
"$heed" generate "${decoder[@]}" --chat --max-new-tokens 3 <chats.jsonl >answers 2>/dev/null
[[ $(wc -l <answers) == 2 ]]
python3 - <<'END'
import json
for number, line in enumerate(open("answers")):
    answer = json.loads(line)
    assert answer["conversation"] == number and answer["message"]["role"] == "assistant", answer
    assert answer["finish_reason"] in ("stop", "length") and answer["usage"]["prompt_tokens"] > 5, answer
END
# A conversation has the answer that it has alone.
head -n 1 chats.jsonl | "$heed" generate "${decoder[@]}" --chat --max-new-tokens 3 2>/dev/null | diff - <(head -n 1 answers)

before=1 refused 'line 2: the conversation: is not JSON' "$heed" generate "${decoder[@]}" --chat --max-new-tokens 3 \
  < <(head -n 1 chats.jsonl && echo '[')
refused 'line 1: the conversation: messages[0].role is missing' "$heed" generate "${decoder[@]}" --chat <<<'[{}]'
refused 'encoder cannot generate, expected a decoder-only model; it can embed' "$heed" chat "${encoder[@]}" </dev/null
cp -r decoder untaught
rm untaught/chat_template.jinja
refused 'untaught has no chat template, expected' "$heed" chat --model untaught --random-weights 1 </dev/null
misused '--prompt excludes --chat' "$heed" generate "${decoder[@]}" --chat --prompt x
misused '--tools requires --chat' "$heed" generate "${decoder[@]}" --tools chats.jsonl

chat() { "$heed" chat "${decoder[@]}" --max-new-tokens 3 "$@"; }

# Messages and commands from a file. Of the second prompt, only what is new is computed.
chat --system 'in' >out 2>err <<'END'
the sheep
/stats
went \
out
"""
came
in"""
/stats
/save saved.json
/undo
/save undone.json
/clear
/save clear.json
END
python3 - <<'END'
import json, re
roles = lambda file: [message["role"] for message in json.load(open(file))]
assert roles("saved.json") == ["system"] + ["user", "assistant"] * 3, roles("saved.json")
assert roles("undone.json") == ["system"] + ["user", "assistant"] * 2
assert roles("clear.json") == ["system"]
contents = [message["content"] for message in json.load(open("saved.json")) if message["role"] == "user"]
assert contents == ["the sheep", "went \nout", "came\nin"], contents
prompts = re.findall(r"prompt +(\d+) tokens, (\d+) of them new", open("out").read())
assert len(prompts) == 2 and prompts[0][0] == prompts[0][1], prompts
assert 0 < int(prompts[1][1]) < int(prompts[1][0]) / 2, prompts
END
# A saved conversation goes on as the unsaved one did.
chat >resumed 2>/dev/null <<<$'/load undone.json\n"""\ncame\nin"""\n/save again.json'
diff saved.json again.json

# The last message is answered again; a call of a tool waits for its result.
chat >/dev/null 2>err <<<$'the\n/regenerate\n/save regenerated.json'
[[ $(grep -c '"assistant"' regenerated.json) == 1 ]]
refused 'no call of a tool waits for a result' chat <<<'/tool 3'
refused 'there is no command "/nothing"' chat <<<'/nothing'
refused '/save needs FILE' chat <<<'/save'
refused 'there is no setting "colour"' chat <<<'/set colour red'
refused 'temperature is "hot", expected a number from 0 to 1000' chat <<<'/set temperature hot'
refused 'there is no answer yet' chat <<<'/regenerate'
refused 'missing.json' chat <<<'/load missing.json'

# A full context ends the conversation, or the oldest messages go.
long=$(printf 'the sheep went in %.0s' {1..3})
status=0
chat --context 60 >/dev/null 2>err <<<"$long"$'\n'"$long" || status=$?
[[ $status == 1 ]]
grep -q '^heed: error: the conversation has [0-9]* tokens, and the context 60$' err
chat --context 60 --when-full drop-oldest >/dev/null 2>err <<<"$long"$'\n'"$long"$'\n/save dropped.json'
grep -q 'the 2 oldest messages were dropped' err
[[ $(grep -c '"role"' dropped.json) == 2 ]]

# On a terminal: an answer stops at Ctrl-C and the program goes on; reasoning is dim; what was typed
# is remembered; control sequences are not passed on.
cat >thinking.jinja <<'END'
{{ messages[-1].content.split('</think>')[-1] }}<think>
END
cp -r decoder large
sed -i 's/"hidden_size": 32/"hidden_size": 256/; s/"num_hidden_layers": 1/"num_hidden_layers": 8/' large/config.json
python3 "$golden/../cli/chat_terminal.py" "$heed" decoder thinking.jinja
