#!/usr/bin/env python3
"""What heed takes for a missing field of config.json beside the defaults of transformers' configuration classes.

    defaults.py HEED [MODEL_TYPE...]

For each family, the file that transformers writes for its defaults (with small sizes) is read as it is, without each of its
fields in turn, and with the sizes alone: `heed info --all --json` must say the same. Fields without which heed refuses the
file are counted; they are sizes. Exits with 1 if anything differs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from transformers.models.auto.configuration_auto import CONFIG_MAPPING

LLAMA = {"vocab_size": 200000, "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8,
         "intermediate_size": 96}
BERT = {"vocab_size": 60000, "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96}
BART = {"vocab_size": 60000, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96}
T5 = {"vocab_size": 60000, "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 96}
DEEPSEEK = {**LLAMA, "num_key_value_heads": 8, "num_experts_per_tok": 4, "n_routed_experts": 16}
SIZES = {
    "marian": BART, "pegasus": BART, "bart": BART, "mbart": {**BART, "decoder_start_token_id": 2}, "m2m_100": BART,
    "t5": T5, "mt5": T5, "bert": BERT, "roberta": BERT, "xlm-roberta": BERT, "mpnet": BERT, "modernbert": BERT,
    "electra": BERT, "albert": BERT, "eurobert": {**LLAMA, "vocab_size": 130000}, "gte": BERT,
    "deberta-v2": {**BERT, "relative_attention": True, "pos_att_type": ["c2p"]}, "nomic_bert": BERT, "distilbert": {"vocab_size": 60000, "dim": 64, "n_layers": 3, "n_heads": 4, "hidden_dim": 96},
    "gpt2": {"vocab_size": 60000, "n_embd": 64, "n_layer": 3, "n_head": 4},
    "llama": LLAMA, "mistral": LLAMA, "mixtral": LLAMA, "gemma3_text": LLAMA, "gemma2": LLAMA, "granite": LLAMA,
    "gemma": {**LLAMA, "num_attention_heads": 16, "vocab_size": 256000}, "olmo2": LLAMA, "phi3": LLAMA, "gpt_oss": LLAMA,
    "smollm3": LLAMA, "gpt_neox": LLAMA, "deepseek_v3": DEEPSEEK, "deepseek_v2": DEEPSEEK,
    "qwen2": {**LLAMA, "num_attention_heads": 32}, "qwen3": {**LLAMA, "num_attention_heads": 32}, "qwen3_moe": LLAMA,
}
# Of every configuration, not of a family, or what transformers derives from other fields when it writes.
KEPT = ("model_type", "architectures")


def facts(heed, folder, config):
    (folder / "config.json").write_text(json.dumps(config))
    done = subprocess.run([heed, "info", str(folder), "--all", "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode:
        return None, done.stderr.strip()
    return {k: v for k, v in json.loads(done.stdout).items() if k != "path"}, done.stderr.strip()


def differences(found, expected):
    return {k: [found.get(k), expected.get(k)] for k in {**found, **expected} if found.get(k) != expected.get(k)}


def main():
    heed = str(pathlib.Path(sys.argv[1]).resolve())
    bad = 0
    for kind in sys.argv[2:] or SIZES:
        sizes = SIZES[kind]
        full = json.loads(json.dumps(CONFIG_MAPPING[kind](**sizes).to_dict(), default=str))
        full["model_type"] = kind
        refused = []
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            expected, said = facts(heed, folder, full)
            if expected is None:
                print(f"FAIL {kind}: as transformers writes it: {said}")
                bad += 1
                continue
            trials = [(key, {k: v for k, v in full.items() if k != key}) for key in full if key not in KEPT]
            trials.append(("sizes alone", {"model_type": kind, **sizes}))
            for name, config in trials:
                found, why = facts(heed, folder, config)
                if found is None:
                    refused.append(name)
                    if name not in sizes and "num_decoder_layers" not in name:
                        print(f"FAIL {kind}: without {name}: {why}")
                        bad += 1
                elif name not in sizes and (changed := differences(found, expected)):
                    print(f"FAIL {kind}: without {name}: {changed}")
                    bad += 1
            print(f"{kind}: {len(trials)} fields, of which heed needs {', '.join(refused) or 'none'}"
                  + (f"; warns: {said}" if said else ""))
    print(f"{bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
