#!/usr/bin/env python3
"""Makes the folders beside this file: tiny random checkpoints and what transformers makes of them.

README.md says what each folder holds and how each family writes its tensors; cases.py lists the
models.

    python3 -m venv venv && venv/bin/pip install torch transformers safetensors numpy
    venv/bin/python tests/golden/families/make.py [case...]
"""
import itertools
import json
import pathlib
import shutil
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

from cases import CASES, VOCAB

torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent
FILES = ("config.json", "generation_config.json", "model.safetensors")
LENGTHS = [7, 1, 12, 5]
SOURCE_LENGTHS = [6, 12, 1, 9]
CONTINUATION = 12
# Below it lie the special tokens of every family; the padding token's embedding learns nothing.
FIRST_TOKEN = 4
# Choices that a rounding error could turn would make the continuations worthless, and so would one
# token over and over.
NEAR_TIE = 1e-2
DISTINCT = 3
T5 = ("t5", "mt5")


def random_tokens(lengths, generator):
    return [torch.randint(FIRST_TOKEN, VOCAB, (n,), generator=generator) for n in lengths]


def flat(sequences):
    return torch.cat(sequences).int()


def offsets(sequences):
    return torch.tensor([0] + [len(s) for s in sequences]).cumsum(0).int()


def randomize(model, generator):
    """Gains around one (zero where they are stored less one), biases off zero, sharp attention."""
    zero_centred = model.config.model_type.startswith("gemma")
    sinusoids = model.config.model_type in ("marian", "pegasus")
    for name, parameter in model.named_parameters():
        if sinusoids and "embed_positions" in name:
            continue
        noise = torch.randn(parameter.shape, generator=generator)
        if "norm" in name.lower() or "ln_" in name or "attn_ln" in name or "mlp_ln" in name:
            gain = name.endswith("weight") and not zero_centred
            parameter.data = 0.2 * noise + (1.0 if gain else 0.0)
        elif parameter.dim() == 1:
            parameter.data = 0.2 * noise
        else:
            # T5 scales neither its scores nor, at the head, anything but by d_model^(-1/2).
            wide = "shared" in name or "relative_attention_bias" in name
            narrow = "embed" in name or "lm_head" in name
            spread = 0.3 if narrow else 0.4
            if "gate_up_proj" in name:  # beyond the limits of gpt-oss's activation
                spread = 2.0
            parameter.data = (1.0 if wide and model.config.model_type in T5 else spread) * noise
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))
    if hasattr(model, "final_logits_bias"):
        # A buffer in transformers, learned by heed.
        model.final_logits_bias = 0.2 * torch.randn(model.final_logits_bias.shape,
                                                    generator=generator)
        model.final_logits_bias.requires_grad_(True)


def untie_head(model, generator):
    """transformers 5 ties the head of T5 v1.1 in its config, yet keeps a head found in a file."""
    model.lm_head.weight = torch.nn.Parameter(
        0.3 * torch.randn(model.lm_head.weight.shape, generator=generator))


def logits_of(model, tokens):
    return model(input_ids=tokens[None], use_cache=False).logits[0]


class Unusable(Exception):
    """These weights make a poor test."""


def greedy(logits, start):
    """Twelve most likely tokens after `start`, whatever they are."""
    tokens = torch.tensor(start)
    with torch.no_grad():
        for _ in range(CONTINUATION):
            best = logits(tokens)[-1].topk(2)
            gap = (best.values[0] - best.values[1]).item()
            if gap < NEAR_TIE:
                raise Unusable
            tokens = torch.cat([tokens, best.indices[:1]])
    if len(set(tokens[len(start):].tolist())) < DISTINCT:
        raise Unusable
    return tokens[len(start):].int()


def causal(model, generator):
    sequences = random_tokens(LENGTHS, generator)
    logits = [logits_of(model, s) for s in sequences]
    loss = sum(cross_entropy(l[:-1], s[1:], reduction="sum")
               for l, s in zip(logits, sequences) if len(s) > 1)
    continuation = [greedy(lambda t: logits_of(model, t), s.tolist()) for s in sequences]
    return loss, dict(input_ids=flat(sequences), offsets=offsets(sequences),
                      logits=torch.cat(logits), continuation=torch.stack(continuation))


def masked(model, generator):
    sequences = random_tokens(LENGTHS, generator)
    outputs = [model(input_ids=s[None], output_hidden_states=True) for s in sequences]
    logits = torch.cat([o.logits[0] for o in outputs])
    rows = torch.tensor([0, 2, 5, 7, 10, 11, 16, 19, 21])
    targets = torch.randint(FIRST_TOKEN, VOCAB, rows.shape, generator=generator)
    loss = cross_entropy(logits[rows], targets, reduction="sum")
    return loss, dict(input_ids=flat(sequences), offsets=offsets(sequences), logits=logits,
                      hidden=torch.cat([o.hidden_states[-1][0] for o in outputs]),
                      mlm_rows=rows.int(), mlm_targets=targets.int())


def hidden(model, generator):
    sequences = random_tokens(LENGTHS, generator)
    types = [torch.randint(0, 2, s.shape, generator=generator) for s in sequences]
    has_types = bool(model.config.to_dict().get("type_vocab_size"))

    def outputs(prefix, inputs):
        found = [model(**i) for i in inputs]
        named = {prefix + "hidden": torch.cat([o.last_hidden_state[0] for o in found])}
        if getattr(found[0], "pooler_output", None) is not None:
            named[prefix + "pooled"] = torch.cat([o.pooler_output for o in found])
        return named

    plain = outputs("", [dict(input_ids=s[None]) for s in sequences])
    loss = sum(0.5 * output.square().sum() for output in plain.values())
    if has_types:
        plain |= outputs("typed_", [dict(input_ids=s[None], token_type_ids=t[None])
                                    for s, t in zip(sequences, types)])
        plain["token_types"] = flat(types)
    return loss, dict(input_ids=flat(sequences), offsets=offsets(sequences)) | plain


def classified(model, generator):
    sequences = random_tokens(LENGTHS, generator)
    types = [torch.randint(0, 2, s.shape, generator=generator) for s in sequences]
    if model.config.model_type == "llama" and model.config.pad_token_id is not None:
        sequences[0][-2:] = model.config.pad_token_id  # the last token is the one before

    def logits(inputs):
        return torch.cat([model(**i).logits.reshape(-1, model.config.num_labels) for i in inputs])

    outputs = dict(logits=logits([dict(input_ids=s[None]) for s in sequences]))
    if model.config.model_type in ("bert", "electra", "albert", "gte"):
        outputs["token_types"] = flat(types)
        outputs["typed_logits"] = logits([dict(input_ids=s[None], token_type_ids=t[None])
                                          for s, t in zip(sequences, types)])
    loss = 0.5 * outputs["logits"].square().sum()
    return loss, dict(input_ids=flat(sequences), offsets=offsets(sequences)) | outputs


def seq2seq(model, generator):
    sources = random_tokens(SOURCE_LENGTHS, generator)
    targets = random_tokens(LENGTHS, generator)
    start = model.config.decoder_start_token_id
    inputs = [torch.cat([torch.tensor([start]), t[:-1]]) for t in targets]

    def logits(source, tokens):
        return model(input_ids=source[None], decoder_input_ids=tokens[None],
                     use_cache=False).logits[0]

    per_pair = [logits(s, i) for s, i in zip(sources, inputs)]
    loss = sum(cross_entropy(l, t, reduction="sum") for l, t in zip(per_pair, targets))
    continuation = [greedy(lambda t, s=s: logits(s, t), [start]) for s in sources]
    if model.config.model_type == "m2m_100":  # skips padding when it counts positions
        if (torch.stack(continuation) == model.config.pad_token_id).any():
            raise Unusable
    encoded = [model.get_encoder()(input_ids=s[None]).last_hidden_state[0] for s in sources]
    return loss, dict(source_ids=flat(sources), source_offsets=offsets(sources),
                      input_ids=flat(inputs), offsets=offsets(inputs), targets=flat(targets),
                      logits=torch.cat(per_pair), continuation=torch.stack(continuation),
                      encoded=torch.cat(encoded))


KINDS = dict(causal=causal, masked=masked, hidden=hidden, classified=classified,
             seq2seq=seq2seq)


def gradients(model, scratch):
    """Saved as a model is, so that each gradient bears the name its parameter has in the file."""
    with torch.no_grad():
        for parameter in model.parameters():
            gradient = parameter.grad
            parameter.copy_(torch.zeros_like(parameter) if gradient is None else gradient)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias = model.final_logits_bias.grad
        for name, buffer in model.named_buffers():
            if name.endswith("e_score_correction_bias"):  # only for the selection
                buffer.zero_()
    model.save_pretrained(scratch)
    return {"gradient." + k: v for k, v in load_file(scratch / "model.safetensors").items()}


def old_config(config, changes):
    """config.json as checkpoints from before transformers 5 spell it."""
    old = {k: v for k, v in config.items()
           if k not in ("rope_parameters", "layer_types", "dtype", "scale_decoder_outputs")}
    old["torch_dtype"] = config["dtype"]
    derived = config.get("hidden_size", 0) // config.get("num_attention_heads", 1)
    if config["model_type"] == "deepseek_v2" or config.get("head_dim") == derived:
        old.pop("head_dim", None)
    old.pop("qk_head_dim", None)
    if config["model_type"] == "qwen3_moe":
        old["num_experts"] = old.pop("num_local_experts")
    if config["model_type"] == "modernbert":
        return dict(sorted((old | changes).items()))
    if "rope_parameters" in config:
        scaling = dict(config["rope_parameters"])
        if "full_attention" in scaling:  # Gemma 3
            old["rope_local_base_freq"] = scaling["sliding_attention"]["rope_theta"]
            scaling = dict(scaling["full_attention"])
        partial = scaling.pop("partial_rotary_factor", 1.0)
        if partial != 1.0:
            old["partial_rotary_factor"] = partial
        if config["model_type"] == "phi3":  # it stands beside rope_scaling, too
            scaling.pop("original_max_position_embeddings", None)
        old["rope_theta"] = scaling.pop("rope_theta")
        kind = scaling.pop("rope_type")
        # Llama 3.1 was the first to write "rope_type" for "type".
        later = kind == "llama3" or config["model_type"] == "gemma3_text"
        key = "rope_type" if later else "type"
        old["rope_scaling"] = None if kind == "default" else {key: kind} | scaling
    if config["model_type"] == "gpt_neox":
        old["rotary_emb_base"] = old.pop("rope_theta")
        old["rotary_pct"] = old.pop("partial_rotary_factor")
        old.pop("rope_scaling")
    return dict(sorted((old | (changes or {})).items()))


def write_old_config(case, folder):
    config = json.loads((folder / "config.json").read_text())
    if case.old is None and (case.kind != "causal" or "rope_parameters" not in config):
        return
    text = json.dumps(old_config(config, case.old), indent=2)
    (folder / "config.old.json").write_text(text + "\n")


def check_reload(case, folder, expected):
    """What was written is what was meant, under every spelling of config and tensors."""
    new = "config.json", "model.safetensors"
    for config, tensors in (new, ("config.old.json", new[1]), (new[0], "model.old.safetensors")):
        if not ((folder / config).exists() and (folder / tensors).exists()):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copy(folder / config, pathlib.Path(scratch) / new[0])
            shutil.copy(folder / tensors, pathlib.Path(scratch) / new[1])
            model = case.model.from_pretrained(scratch, attn_implementation="eager").eval()
            loss, _ = KINDS[case.kind](model, torch.Generator().manual_seed(5))
            difference = abs(loss.item() - expected.item())
            assert difference < 1e-5 * abs(expected.item()), f"{folder.name}: {config} {tensors}"


def usable_model(name, case):
    """Of the first seed whose continuations can be compared token for token."""
    for seed in itertools.count(case.seed):
        generator = torch.Generator().manual_seed(seed)
        model = case.model(case.config).eval().float()
        randomize(model, generator)
        if name in ("t5-v1.1", "mt5"):
            untie_head(model, generator)
        try:
            return (model, *KINDS[case.kind](model, torch.Generator().manual_seed(5)))
        except Unusable:
            continue


def make(name, case):
    model, loss, outputs = usable_model(name, case)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        model.save_pretrained(scratch)
        for file in FILES:
            if (scratch / file).exists():
                shutil.copy(scratch / file, folder / file)
        loss.backward()
        outputs |= gradients(model, scratch)
    outputs["loss"] = loss.reshape(1)
    save_file({k: v.detach().clone().contiguous() for k, v in outputs.items()},
              folder / "expected.safetensors")
    write_old_config(case, folder)
    if case.old_tensors:
        tensors = load_file(folder / "model.safetensors")
        save_file(case.old_tensors(tensors), folder / "model.old.safetensors", {"format": "pt"})
    check_reload(case, folder, loss)


for name in sys.argv[1:] or CASES:
    make(name, CASES[name])
    print(name)
