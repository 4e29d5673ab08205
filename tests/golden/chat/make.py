#!/usr/bin/env python3
"""Writes expected.json: what transformers makes of conversations, as text and as tokens.

    make.py    needs transformers; reads the tokenizers of ../tokenizers

The templates are our own, in the styles of published ones.
"""

import json
import pathlib

from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent

CHATML = """{%- if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool|tojson }}\\n{% endfor %}{{ '<|im_end|>\\n' }}{% endif -%}
{%- for message in messages -%}
{{ '<|im_start|>' + message.role + '\\n' }}
{%- if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif -%}
{{ message.content }}
{%- for call in message.tool_calls or [] %}{{ '\\n<tool_call>\\n' + call.function|tojson + '\\n</tool_call>' }}{% endfor -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% if enable_thinking %}{{ '<think>\\n' }}{% endif %}{% endif -%}"""

INST = """{{ bos_token }}{% for message in messages %}{% if message.role == 'user' %}{{ '[INST] ' + message.content + ' [/INST]' }}
{%- elif message.role == 'assistant' %}{{ ' ' + message.content + eos_token }}{% else %}{{ raise_exception('roles') }}{% endif %}{% endfor %}"""

TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather",
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
CALL = [{"id": "abc", "type": "function",
         "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": [1, 2]}}}]

CONVERSATIONS = [
    {"messages": [{"role": "user", "content": "The old ship went out."}]},
    {"messages": [{"role": "user", "content": "Wie geht's, 世界 😀?\n\n  Two  spaces"},
                  {"role": "assistant", "content": "Gut.\n"},
                  {"role": "user", "content": " And\tyou? "}]},
    {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ""}]},
    {"messages": [{"role": "user", "content": "Weather?"},
                  {"role": "assistant", "content": "", "tool_calls": CALL,
                   "reasoning_content": "I need\na tool."},
                  {"role": "tool", "content": "{\"sun\": true}"}],
     "tools": TOOLS, "chat_template_kwargs": {"enable_thinking": True}},
]

# Kind of tokenizer, template, special tokens.
CASES = [
    ("qwen2", CHATML, {"eos_token": "<|im_end|>"}),
    ("llama3", CHATML, {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}),
    ("llama2", INST, {"bos_token": "<s>", "eos_token": "</s>"}),
    ("gemma2", INST, {"bos_token": "<bos>", "eos_token": "<eos>"}),
    ("mistral", INST, {"bos_token": "<s>", "eos_token": "</s>"}),
]


def main():
    cases = []
    for kind, template, special in CASES:
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(HERE.parent / "tokenizers" / f"{kind}.json"), **special)
        for conversation in CONVERSATIONS:
            arguments = {"tools": conversation.get("tools"), "add_generation_prompt": True,
                         **conversation.get("chat_template_kwargs", {})}
            case = {"tokenizer": kind, "template": template, "special_tokens": special,
                    **conversation}
            try:
                case["text"] = tokenizer.apply_chat_template(
                    conversation["messages"], chat_template=template, tokenize=False, **arguments)
                case["tokens"] = tokenizer.apply_chat_template(
                    conversation["messages"], chat_template=template, tokenize=True,
                    return_dict=False, **arguments)
            except Exception as error:  # raise_exception() of the template
                case["error"] = str(error)
            cases.append(case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (HERE / "expected.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
