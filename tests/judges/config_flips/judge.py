#!/usr/bin/env python3
"""Every field of config.json set to other values, on every golden checkpoint with a head: heed's logits beside those of
transformers.

    judge.py HEED [--all] [--only CHECKPOINT]... [--field FIELD]... [--verbose]

For each field of the configuration class, of the file, and of a list of fields of other families (OTHERS), the field is
removed, set to null and set to other plausible values; pairs of fields that contradict each other follow (PAIRS). Outcomes:

    same       heed's logits are those of transformers
    refused    heed's message names the field, or a tensor that does not have the shape it asks for
    undefined  transformers refuses, or initialises weights at random: heed may refuse or not
    FAIL       other logits, a refusal that names nothing, a crash

Exits with 1 if anything fails. Needs torch and transformers. Takes half a minute for a checkpoint; without --all, one of
each model_type.
"""
import argparse
import copy
import dataclasses
import json
import logging
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import torch
import transformers

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden" / "families"
TOLERANCE = 2e-3  # of the largest logit
TOKENS = [5, 9, 12, 7, 30, 4, 18, 25, 11]
SOURCE = [6, 8, 13, 21, 5]
ACTIVATIONS = ["relu", "gelu", "gelu_new", "silu", "tanh", "gelu_pytorch_tanh"]
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
# Fields of any family, tried on all.
OTHERS = {
    "is_causal": [False], "is_decoder": [True], "add_cross_attention": [True], "attention_bias": [True],
    "mlp_bias": [True], "attn_logit_softcapping": [2.0], "final_logit_softcapping": [2.0], "logits_scaling": [3.0],
    "embedding_multiplier": [3.0], "residual_multiplier": [0.5], "attention_multiplier": [0.1],
    "query_pre_attn_scalar": [2], "use_parallel_residual": [False, True], "partial_rotary_factor": [0.5],
    "rotary_pct": [0.5], "rotary_emb_base": [50.0], "rope_theta": [50.0], "rope_local_base_freq": [50.0],
    "global_rope_theta": [50.0], "local_rope_theta": [50.0], "rope_scaling": [LINEAR, YARN, LLAMA3, {}],
    "rope_parameters": [dict(LINEAR, rope_theta=50.0), dict(YARN), {}, {"rope_type": "default"}],
    "original_max_position_embeddings": [20], "rope_interleave": [False, True], "no_rope_layers": [[0, 0, 0, 0]],
    "no_rope_layer_interval": [1, 2], "sliding_window": [3, None], "use_sliding_window": [True],
    "max_window_layers": [0, 1], "layer_types": [["sliding_attention"] * 2, ["full_attention"] * 2],
    "sliding_window_pattern": [2], "local_attention": [4], "global_attn_every_n_layers": [1, 2],
    "position_embedding_type": ["relative_key", "absolute"], "normalize_before": [True, False],
    "normalize_embedding": [True, False], "add_final_layer_norm": [True, False], "scale_embedding": [True, False],
    "static_position_embeddings": [True, False], "is_gated_act": [True, False], "dense_act_fn": ["silu", "relu"],
    "scale_decoder_outputs": [True, False], "scale_attn_weights": [False], "sinusoidal_pos_embds": [True],
    "scale_attn_by_inverse_layer_idx": [True], "reorder_and_upcast_attn": [True], "use_bidirectional_attention": [True],
    "hidden_act": ["silu"], "hidden_activation": ["silu"], "activation_function": ["silu"], "head_dim": [4],
    "num_key_value_heads": [1], "hidden_size": [32], "num_hidden_layers": [1], "d_model": [32], "n_embd": [32],
    "n_ctx": [4], "n_positions": [64], "layer_norm_eps": [0.5], "layer_norm_epsilon": [0.5], "rms_norm_eps": [0.5],
    "norm_eps": [0.5], "tie_word_embeddings": [True, False], "tie_encoder_decoder": [True], "pruned_heads": [{}],
    "per_layer_config": [{"0": {"sliding_window": 2}}], "chunk_size_feed_forward": [2], "norm_topk_prob": [True, False],
    "routed_scaling_factor": [3.0], "scoring_func": ["sigmoid", "softmax"], "topk_method": ["greedy", "noaux_tc"],
    "n_group": [1, 2], "topk_group": [1], "moe_layer_freq": [2], "first_k_dense_replace": [0, 1],
    "decoder_sparse_step": [2], "mlp_only_layers": [[0]], "swiglu_limit": [1.0], "swiglu_alpha": [1.0],
    "share_encoder_decoder_embeddings": [False, True], "decoder_vocab_size": [40], "attention_chunk_size": [2],
    "embedding_size": [8], "num_hidden_groups": [1], "inner_group_num": [2], "position_buckets": [-1, 16],
    "max_relative_positions": [-1, 12], "pos_att_type": [["c2p"], "p2c|c2p", []], "share_att_key": [False, True],
    "norm_rel_ebd": ["none", "layer_norm"], "position_biased_input": [True, False], "relative_attention": [False],
    "conv_kernel_size": [3], "legacy": [False], "qk_norm": [True], "use_qk_norm": [True], "clip_qkv": [0.1], "alibi": [True], "rotary_emb_fraction": [0.5],
    "eos_token_id": [3, [3, 4], 50256, None], "bos_token_id": [3, 50256, None], "pad_token_id": [0, 3, 50256, None],
    "decoder_start_token_id": [3, None], "vocab_size": [40], "never_heard_of": [3], "torch_dtype": ["bfloat16"],
    "use_cache": [False], "output_attentions": [True], "return_dict": [False], "is_encoder_decoder": [True, False],
    "attention_dropout": [0.9], "dropout": [0.9], "encoder_layerdrop": [0.9], "layerdrop": [0.9],
}
PAIRS = [
    {"rope_scaling": LINEAR, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},
    {"rope_scaling": YARN, "rope_parameters": dict(LINEAR, rope_theta=50.0), "rope_theta": 70.0},
    {"rope_theta": 70.0, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},
    {"rope_theta": 70.0, "rope_parameters": {"rope_type": "default"}},
    {"rope_theta": 70.0, "rope_parameters": None},
    {"rope_scaling": YARN, "original_max_position_embeddings": 24},
    {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1, "layer_types": None},
    {"use_sliding_window": False, "sliding_window": 3, "layer_types": None},
    {"is_causal": False, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 0, "layer_types": None},
    {"is_causal": False, "sliding_window": 3},
    {"local_attention": 8, "sliding_window": 2},
    {"tie_word_embeddings": False, "scale_decoder_outputs": True},
    {"tie_word_embeddings": True, "scale_decoder_outputs": False},
    {"feed_forward_proj": "relu", "dense_act_fn": "gelu_new"},
    {"hidden_act": "relu", "hidden_activation": "gelu_pytorch_tanh"},
    {"hidden_size": 16, "d_model": 32},
    {"encoder_layers": 2, "num_hidden_layers": 1},
]
MASKED = ("bert", "distilbert", "roberta", "xlm-roberta", "mpnet", "modernbert", "nomic_bert",
          "electra", "albert", "eurobert", "gte", "deberta-v2")
PAIR_OF_STACKS = ("marian", "pegasus", "bart", "mbart", "m2m_100", "t5", "mt5")


def other_values(key, value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value, 1]
    if isinstance(value, float):
        return [2 * value + 0.125, value / 2 + 0.25]
    if isinstance(value, str):
        if "act" in key and value in ACTIVATIONS:
            return [a for a in ACTIVATIONS if a != value]
        return ["other"]
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [list(reversed(value)), ["full_attention"] * len(value), ["sliding_attention"] * len(value)]
    if isinstance(value, list):
        return [list(reversed(value)), []]
    if isinstance(value, dict):
        return [{}] + [{k: v for k, v in value.items() if k != own} for own in value]
    return []


def flips(config):
    """(name, changes) where a value of None is null and `...` removes the field."""
    cls = transformers.models.auto.configuration_auto.CONFIG_MAPPING[config["model_type"]]
    defaults = {f.name: None if f.default is dataclasses.MISSING else f.default for f in dataclasses.fields(cls)}
    kept = ("model_type", "architectures", "transformers_version", "id2label", "label2id")
    for key in sorted(({*defaults, *config}) - {*kept}):
        values = [..., None] if key in config else [None]
        current = config.get(key, defaults.get(key))
        values += other_values(key, current)
        for value in values + [v for v in OTHERS.get(key, []) if v != current]:
            yield key, {key: value}
    for key in sorted({*OTHERS} - {*defaults, *config}):
        for value in OTHERS[key]:
            yield key, {key: value}
    for pair in PAIRS:
        yield " ".join(pair), pair


def applied(config, changes):
    config = copy.deepcopy(config)
    layers = next((config[k] for k in ("num_hidden_layers", "n_layer", "num_layers") if k in config), 2)
    for key, value in changes.items():
        if value is ...:
            config.pop(key, None)
        elif key in ("layer_types", "no_rope_layers") and value and key not in config:
            config[key] = (value * layers)[:layers]
        else:
            config[key] = value
    return config


def reference(folder, config):
    """The logits, or None with a reason."""
    kind = config["model_type"]
    cls = (transformers.AutoModelForMaskedLM if kind in MASKED else
           transformers.AutoModelForSeq2SeqLM if kind in PAIR_OF_STACKS else transformers.AutoModelForCausalLM)
    try:
        model, info = cls.from_pretrained(folder, output_loading_info=True, dtype=torch.float32,
                                          attn_implementation="eager")
        if info["missing_keys"] or info.get("mismatched_keys"):
            return None, "weights are initialised at random"
        model.eval()
        with torch.no_grad():
            if kind in PAIR_OF_STACKS:
                out = model(input_ids=torch.tensor([SOURCE]), decoder_input_ids=torch.tensor([TOKENS]),
                            attention_mask=torch.ones(1, len(SOURCE)), use_cache=False, return_dict=True)
            else:
                out = model(input_ids=torch.tensor([TOKENS]), attention_mask=torch.ones(1, len(TOKENS)),
                            return_dict=True)
        if not torch.isfinite(out.logits).all():
            return None, "not finite"
        return out.logits[0], ""
    except Exception as error:  # transformers raises all kinds for fields that do not fit
        return None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:120]


def run_heed(heed, folder, kind):
    command = [heed, "logits", "--model", str(folder), "--tokens", ",".join(map(str, TOKENS))]
    if kind in PAIR_OF_STACKS:
        command += ["--source-tokens", ",".join(map(str, SOURCE))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return torch.tensor(json.loads(done.stdout)["logits"]), done.stderr
    return None, f"crash {done.returncode}" if done.returncode != 1 else done.stderr


def names_the_cause(message, keys):
    """The field, or a tensor whose shape or presence depends on it."""
    return any(key in message for key in keys) or "the configuration expects" in message or \
        "is missing, expected with shape" in message or "not a part of the model" in message or \
        "the model reads at most" in message


def judge(heed, folder, config, keys):
    theirs, reason = reference(folder, config)
    ours, said = run_heed(heed, folder, config["model_type"])
    if ours is None:
        if said.startswith("crash"):
            return "FAIL", said
        if theirs is None:
            return "undefined", f"{reason} | {said.strip()[:100]}"
        named = names_the_cause(said, keys)
        return ("refused" if named else "FAIL"), said.strip()[:160]
    if theirs is None:
        return "undefined", reason
    if ours.shape != theirs.shape:
        return "FAIL", f"shape {list(ours.shape)}, expected {list(theirs.shape)}"
    gap = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    return ("same" if gap < TOLERANCE else "FAIL"), f"differs by {gap:.3g} {said.strip()[:120]}"


def has_head(folder):
    names = json.loads((folder / "config.json").read_text()).get("architectures") or [""]
    return names[0].endswith(("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ConditionalGeneration", "MTModel"))


def checkpoints(only, every):
    seen = set()
    for folder in sorted(GOLDEN.iterdir()):
        if only and folder.name not in only or not (folder / "config.json").exists() or not has_head(folder):
            continue
        if "mxfp4" in folder.name or not (folder / "model.safetensors").exists():
            continue
        kind = json.loads((folder / "config.json").read_text())["model_type"]
        if kind in seen and not only and not every:
            continue
        seen.add(kind)
        yield folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("--field", action="append")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    heed = str(pathlib.Path(arguments.heed).resolve())
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    counts = {"same": 0, "refused": 0, "undefined": 0, "FAIL": 0}
    for golden in checkpoints(arguments.only, arguments.all):
        config = json.loads((golden / "config.json").read_text())
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            shutil.copy(golden / "model.safetensors", folder)
            own = dict.fromkeys(counts, 0)
            for name, changes in [("nothing", {}), *flips(config)]:
                if arguments.field and name not in arguments.field:
                    continue
                flipped = applied(config, changes)
                (folder / "config.json").write_text(json.dumps(flipped))
                outcome, why = judge(heed, folder, flipped, changes)
                own[outcome] += 1
                if outcome == "FAIL" or arguments.verbose:
                    shown = json.dumps({k: "absent" if v is ... else v for k, v in changes.items()})
                    print(f"{outcome:9} {golden.name}: {shown[:150]} | {why}", flush=True)
        print(f"{golden.name}: " + ", ".join(f"{n} {k}" for k, n in own.items()), flush=True)
        for key, number in own.items():
            counts[key] += number
    print("all: " + ", ".join(f"{n} {k}" for k, n in counts.items()))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
