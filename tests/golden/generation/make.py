#!/usr/bin/env python3
"""Writes expected.json: outputs of transformers' generate() with settings of generation_config.json.

The models are those of ../families. heed's length penalty is that of Wu et al. 2016, so beam search
gets it in place of the one of transformers. Needs torch, transformers and safetensors.
"""
import inspect
import json
import pathlib
import tempfile
import textwrap

import torch
import transformers
from safetensors.torch import load_file
from transformers.generation import utils

HERE = pathlib.Path(__file__).parent
FAMILIES = HERE.parent / "families"
MODELS = ("bart", "t5", "gpt2", "llama3")
NEW_TOKENS = 12

SETTINGS = {
    "none": {},
    "no_repeat_ngram_1": {"no_repeat_ngram_size": 1},
    "no_repeat_ngram_2": {"no_repeat_ngram_size": 2},
    "encoder_no_repeat_ngram": {"encoder_no_repeat_ngram_size": 1},
    "repetition_penalty": {"repetition_penalty": 1.7},
    "encoder_repetition_penalty": {"encoder_repetition_penalty": 1.8},
    "encouraged_repetition": {"repetition_penalty": 0.8, "encoder_repetition_penalty": 0.7},
    "bad_words": {"bad_words_ids": [["A"], ["B", "C"], ["C", "B"], ["EOS"]]},
    "sequence_bias": {"sequence_bias": [[["A"], -1.5], [["A", "B"], 6.0], [["B", "B"], -4.0], [["B"], 0.5]]},
    "min_length": {"min_length": 9},
    "min_new_tokens": {"min_new_tokens": 7, "min_length": 30},
    "forced_bos": {"forced_bos_token_id": 9},
    "forced_eos": {"forced_eos_token_id": ["EOS"]},
    "length_decay": {"exponential_decay_length_penalty": [3, 1.3]},
    "suppress": {"suppress_tokens": ["A", "C"], "begin_suppress_tokens": ["B"]},
    "begin_suppress": {"begin_suppress_tokens": ["A", "B", "C", 7], "forced_bos_token_id": 9},
    "renormalized": {"renormalize_logits": True, "suppress_tokens": ["A"]},
    "many": {"no_repeat_ngram_size": 2, "repetition_penalty": 1.2, "min_new_tokens": 3, "forced_eos_token_id": "EOS",
             "exponential_decay_length_penalty": [4, 1.2], "suppress_tokens": ["A"], "renormalize_logits": True,
             "encoder_repetition_penalty": 1.1, "bad_words_ids": [["B", "C"]]},
}
PENALTIES = (-1.0, 1.0, 2.0)


def use_penalty_of_wu():
    source = textwrap.dedent(inspect.getsource(utils.GenerationMixin._update_finished_beams))
    theirs = "((cur_len + 1 - decoder_prompt_len) ** length_penalty)"
    assert theirs in source
    namespace = vars(utils).copy()
    exec(source.replace(theirs, "(((5 + cur_len + 1 - decoder_prompt_len) / 6) ** length_penalty)"), namespace)
    utils.GenerationMixin._update_finished_beams = namespace["_update_finished_beams"]


def replaced(value, names):
    if isinstance(value, dict):
        return {key: replaced(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [replaced(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def prompts_of(family, encoded):
    tensors = load_file(FAMILIES / family / "expected.safetensors")
    ids, offsets = (tensors["source_ids"], tensors["source_offsets"]) if encoded else (
        tensors["input_ids"], tensors["offsets"])
    return [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])][:3]


def outputs_of(model, settings, prompt, **options):
    """Each output without prompt and end, with its score."""
    config = transformers.GenerationConfig(pad_token_id=0, **settings)
    found = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                           generation_config=config, max_new_tokens=NEW_TOKENS, do_sample=False,
                           use_cache=False, return_dict_in_generate=True, output_scores=True, **options)
    first = 1 if model.config.is_encoder_decoder else len(prompt)
    results = []
    for i, row in enumerate(found.sequences.tolist()):
        tokens = row[first:]
        ends = [k for k, token in enumerate(tokens) if token == settings["eos_token_id"]]
        result = {"tokens": tokens[:ends[0]] if ends else tokens}
        if "num_beams" in options:
            result["score"] = round(found.sequences_scores[i].item(), 5)
        results.append(result)
    return results


def end_of(outputs):
    """Random models seldom end an output: a token that most outputs have, not too early, is the end."""
    def rank(token):
        places = [output.index(token) for output in outputs if token in output]
        return sum(1 if place >= 3 else -1 for place in places), -token
    return max(sorted(set(sum(outputs, []))), key=rank)


def main():
    use_penalty_of_wu()
    cases = []
    for family in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("config.json", "model.safetensors"):
                (pathlib.Path(folder) / name).symlink_to(FAMILIES / family / name)
            config = transformers.AutoConfig.from_pretrained(folder)
            kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
            model = kind.from_pretrained(folder, dtype=torch.float32).eval()
        start = {"decoder_start_token_id": config.decoder_start_token_id} if config.is_encoder_decoder else {}
        model.generation_config = transformers.GenerationConfig()
        prompts = prompts_of(family, config.is_encoder_decoder)
        plain = [outputs_of(model, {"eos_token_id": 0, **start}, prompt)[0]["tokens"] for prompt in prompts]
        eos = end_of(plain)
        common = sorted(range(4, config.vocab_size), key=lambda token: (-sum(o.count(token) for o in plain), token))
        names = dict(zip("ABC", (token for token in common if token != eos)), EOS=eos)
        for name, settings in SETTINGS.items():
            settings = {**start, "eos_token_id": eos, **replaced(settings, names)}
            beams = {"num_beams": 3, "num_return_sequences": 3, "early_stopping": True}
            ways = [{}, {**beams, "length_penalty": 0.0}]
            if name == "none":
                ways += [{**beams, "length_penalty": penalty} for penalty in PENALTIES]
            for way in ways:
                cases.append({"model": family, "name": name, "settings": settings, **way,
                              "outputs": [outputs_of(model, settings, prompt, **way) for prompt in prompts]})
    lines = ",\n".join(json.dumps(case) for case in cases)
    (HERE / "expected.json").write_text(f"[\n{lines}\n]\n")


main()
