#!/usr/bin/env python3
"""Translators whose weights are files of torch.save, as they are published, beside transformers.

    models.py HEED

Makes small random models of the shapes of Marian, M2M-100, NLLB, Pegasus and Llama, and saves their weights
as older versions of transformers did: pytorch_model.bin in the zip archive and in the format before it, several files with an
index, in bf16 and f16, with the tied and constant tensors that published files have. heed's logits must equal those of
transformers within 1e-5, and `heed convert` must write safetensors with the same bits. Exits with 1 if one does not.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch
from transformers import (LlamaConfig, LlamaForCausalLM, M2M100Config, M2M100ForConditionalGeneration, MarianConfig,
                          MarianMTModel, PegasusConfig, PegasusForConditionalGeneration)

torch.manual_seed(7)
SIZES = {"vocab_size": 211, "d_model": 48, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
         "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 80, "max_position_embeddings": 64}
MODELS = {
    "marian": (MarianMTModel, MarianConfig(**SIZES, pad_token_id=210, decoder_start_token_id=210, eos_token_id=0,
                                           forced_eos_token_id=0, scale_embedding=True, activation_function="swish",
                                           static_position_embeddings=True)),
    "m2m-100": (M2M100ForConditionalGeneration, M2M100Config(**SIZES, scale_embedding=True)),
    "nllb": (M2M100ForConditionalGeneration, M2M100Config(**{**SIZES, "vocab_size": 1009, "encoder_layers": 3}, scale_embedding=True,
                                                          tokenizer_class="NllbTokenizer", max_length=200)),
    "pegasus": (PegasusForConditionalGeneration, PegasusConfig(**SIZES, scale_embedding=True, activation_function="relu",
                                                               normalize_before=True, static_position_embeddings=True)),
    "llama": (LlamaForCausalLM, LlamaConfig(vocab_size=211, hidden_size=48, intermediate_size=96, num_hidden_layers=2,
                                            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)),
}


def state_dict_as_published(model):
    """With the tied names and constant buffers that older versions of transformers saved."""
    state = dict(model.state_dict())
    shared = state.get("model.shared.weight")
    if shared is not None:
        state |= {f"model.{side}.embed_tokens.weight": shared for side in ("encoder", "decoder")}
        state["lm_head.weight"] = shared
        for side in ("encoder", "decoder"):
            positions = getattr(model.model, side).embed_positions
            name = "weights" if hasattr(positions, "weights") else "weight"
            state[f"model.{side}.embed_positions.{name}"] = getattr(positions, name).detach()
    return state


def save_whole(state, folder, **options):
    torch.save(state, folder / "pytorch_model.bin", **options)


def save_shards(state, folder):
    names = sorted(state)
    parts = [names[i::3] for i in range(3)]
    weight_map = {}
    for i, part in enumerate(parts):
        file = f"pytorch_model-{i + 1:05}-of-00003.bin"
        torch.save({name: state[name] for name in part}, folder / file)
        weight_map |= {name: file for name in part}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def logits_of_heed(heed, folder, source, target):
    command = [heed, "logits", "--model", folder, "--tokens", ",".join(map(str, target))]
    if source:
        command += ["--source-tokens", ",".join(map(str, source))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return torch.tensor(json.loads(done.stdout)["logits"])


def logits_of_transformers(model, source, target):
    with torch.no_grad():
        if source:
            return model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target])).logits[0]
        return model(input_ids=torch.tensor([target])).logits[0]


def main():
    heed = str(pathlib.Path(sys.argv[1]).resolve())
    bad = 0
    for name, (kind, config) in MODELS.items():
        for form in ("zip", "legacy", "shards", "checkpoint", "bfloat16", "float16"):
            model = kind(config).eval()
            for parameter in model.parameters():
                torch.nn.init.normal_(parameter, std=0.1)
            if "final_logits_bias" in dict(model.named_buffers()):
                model.final_logits_bias.normal_()
            if form in ("bfloat16", "float16"):
                model = model.to(getattr(torch, form))
            state = state_dict_as_published(model)
            with tempfile.TemporaryDirectory() as directory:
                folder, out = pathlib.Path(directory, "m"), pathlib.Path(directory, "out")
                model.config.save_pretrained(folder)
                if form == "shards":
                    save_shards(state, folder)
                elif form == "checkpoint":
                    save_whole({"epoch": 1, "state_dict": state, "hyper_parameters": {"lr": 1e-3}}, folder)
                else:
                    save_whole(state, folder, _use_new_zipfile_serialization=form != "legacy")
                source = torch.randint(3, 200, (11,)).tolist() if "model.shared.weight" in state else None
                target = torch.randint(3, 200, (9,)).tolist()
                try:
                    found = logits_of_heed(heed, folder, source, target)
                    subprocess.run([heed, "convert", folder, "--out", out], check=True, capture_output=True, text=True)
                except (RuntimeError, subprocess.CalledProcessError) as error:
                    bad += 1
                    print(f"FAIL {name}, {form}: {getattr(error, 'stderr', None) or error}")
                    continue
                # As from_pretrained() does: the sinusoids of M2M-100 are computed again, in f32.
                model = kind(config).eval()
                model.load_state_dict({key: tensor.float() for key, tensor in state.items()}, strict=False)
                difference = (found - logits_of_transformers(model, source, target)).abs().max().item()
                converted = safetensors.torch.load_file(out / "model.safetensors")
                differing = [key for key, tensor in converted.items()
                             if not torch.equal(tensor.float().flatten(), state[key].float().flatten())]
                ok = difference <= 1e-5 and not differing
                bad += not ok
                print(f"{'' if ok else 'FAIL '}{name}, {form}: logits differ by {difference:.1e}; "
                      f"{len(converted)} tensors converted, {len(differing)} differ {' '.join(differing)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
