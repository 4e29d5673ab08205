"""Writes model directories with random weights for bench/gpu/queue.sh.

    make_models.py [--tiny] [--device cuda|cpu] DIRECTORY NAME...

NAME: llama-8b, llama-1b (bf16, Llama 3's shapes), llama-8b-q4_0, llama-1b-q4_0 (GGUF files),
minilm (all-MiniLM-L6-v2's shape), marian (the base translation model's shape). A model that is
there already is left alone. --tiny writes the same with small layers.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shutil
import struct
import time

import torch

DEVIATION = 0.02  # of the weights
WRITERS = 4  # threads

LLAMA = {
    "llama-8b": dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
                     num_attention_heads=32, num_key_value_heads=8, vocab_size=128256),
    "llama-1b": dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
                     num_attention_heads=32, num_key_value_heads=8, vocab_size=128256),
}
TINY_LLAMA = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=2,
                  num_attention_heads=4, num_key_value_heads=2, vocab_size=1024)


def llama_config(name, tiny):
    shape = TINY_LLAMA if tiny else LLAMA[name]
    return dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu",
                max_position_embeddings=16384, rms_norm_eps=1e-5, rope_theta=500000.0,
                tie_word_embeddings=False, attention_bias=False, mlp_bias=False,
                torch_dtype="bfloat16", bos_token_id=0, eos_token_id=1,
                head_dim=shape["hidden_size"] // shape["num_attention_heads"], **shape)


def byte_symbols():
    """The characters that stand for bytes in byte-level vocabularies (GPT-2)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1),
                 *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {byte: chr(byte) for byte in printable}
    symbols.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return [symbols[byte] for byte in range(256)]


def write_tokenizer(folder, size):
    """A token for each byte, then tokens that no text has."""
    special = ["<s>", "</s>"]
    vocabulary = special + byte_symbols()
    vocabulary += [f"w{i:06d}" for i in range(len(vocabulary), size)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                  "use_regex": True}
    added = [dict(id=i, content=token, single_word=False, lstrip=False, rstrip=False,
                  normalized=False, special=True) for i, token in enumerate(special)]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False,
             "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "byte_fallback": False, "ignore_merges": False,
             "vocab": {token: i for i, token in enumerate(vocabulary)}, "merges": []}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
                 "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
                 "decoder": byte_level, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
         "add_bos_token": True}))


def llama_layer(config):
    width, hidden = config["hidden_size"], config["intermediate_size"]
    queries = config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]
    return {"self_attn.q_proj": (queries, width), "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width), "self_attn.o_proj": (width, queries),
            "mlp.gate_proj": (hidden, width), "mlp.up_proj": (hidden, width),
            "mlp.down_proj": (width, hidden), "input_layernorm": (width,),
            "post_attention_layernorm": (width,)}


def shards(config):
    """Shapes by name: a dictionary for each layer, and one for the rest."""
    for layer in range(config["num_hidden_layers"]):
        yield {f"model.layers.{layer}.{name}.weight": shape
               for name, shape in llama_layer(config).items()}
    table = (config["vocab_size"], config["hidden_size"])
    yield {"model.embed_tokens.weight": table, "model.norm.weight": table[1:],
           "lm_head.weight": table}


def random_weight(shape, seed, device):
    if len(shape) == 1:
        return torch.ones(shape, dtype=torch.bfloat16)
    generator = torch.Generator(device).manual_seed(seed)
    weight = torch.empty(shape, dtype=torch.bfloat16, device=device)
    return weight.normal_(0, DEVIATION, generator=generator).cpu()


def write_llama(folder, name, tiny, device):
    from safetensors.torch import save_file
    config = llama_config(name, tiny)
    all_shards = list(shards(config))
    index = {}

    def write(number):
        file = f"model-{number + 1:05d}-of-{len(all_shards):05d}.safetensors"
        weights = {weight: random_weight(shape, 1000 * number + i, device)
                   for i, (weight, shape) in enumerate(all_shards[number].items())}
        save_file(weights, folder / file, metadata={"format": "pt"})
        return {weight: file for weight in weights}
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        for written in pool.map(write, range(len(all_shards))):
            index.update(written)
    (folder / "model.safetensors.index.json").write_text(json.dumps(
        {"metadata": {}, "weight_map": index}))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"max_new_tokens": 64}))
    write_tokenizer(folder, config["vocab_size"])


# GGUF (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
UINT32, FLOAT32, STRING = 4, 6, 8
F32, Q4_0 = 0, 2
ALIGNMENT = 32
GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
              "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
              "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def gguf_string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf_value(key, value):
    if isinstance(value, str):
        return gguf_string(key) + struct.pack("<I", STRING) + gguf_string(value)
    if isinstance(value, float):
        return gguf_string(key) + struct.pack("<If", FLOAT32, value)
    return gguf_string(key) + struct.pack("<II", UINT32, value)


def gguf_weights(config):
    weights = {"token_embd.weight": (config["vocab_size"], config["hidden_size"])}
    for layer in range(config["num_hidden_layers"]):
        weights.update({f"blk.{layer}.{GGUF_NAMES[name]}.weight": shape
                        for name, shape in llama_layer(config).items()})
    weights["output_norm.weight"] = (config["hidden_size"],)
    weights["output.weight"] = weights["token_embd.weight"]
    return weights


def q4_0_blocks(shape, seed, device):
    """Random numbers of 4 bits, their scales equal."""
    blocks = shape[0] * shape[1] // 32
    generator = torch.Generator(device).manual_seed(seed)
    data = torch.empty((blocks, 18), dtype=torch.uint8, device=device)
    data.random_(generator=generator)
    data[:, :2] = torch.tensor([DEVIATION / 4.6], dtype=torch.float16).view(torch.uint8).to(device)
    return data.cpu().numpy().tobytes()


def write_gguf(path, name, tiny, device):
    config = llama_config(name, tiny)
    weights = gguf_weights(config)
    values = {"general.architecture": "llama", "general.alignment": ALIGNMENT,
              "llama.context_length": config["max_position_embeddings"],
              "llama.embedding_length": config["hidden_size"],
              "llama.block_count": config["num_hidden_layers"],
              "llama.feed_forward_length": config["intermediate_size"],
              "llama.attention.head_count": config["num_attention_heads"],
              "llama.attention.head_count_kv": config["num_key_value_heads"],
              "llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
              "llama.rope.dimension_count": config["head_dim"],
              "llama.rope.freq_base": config["rope_theta"],
              "llama.vocab_size": config["vocab_size"], "tokenizer.ggml.model": "none"}
    header = b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(values))
    header += b"".join(gguf_value(key, value) for key, value in values.items())
    offset = 0
    for weight, shape in weights.items():
        kind, size = (F32, 4 * shape[0]) if len(shape) == 1 else \
            (Q4_0, shape[0] * shape[1] // 32 * 18)
        header += gguf_string(weight) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        header += struct.pack("<IQ", kind, offset)
        offset += -(-size // ALIGNMENT) * ALIGNMENT

    def pad(file):
        file.write(bytes(-file.tell() % ALIGNMENT))
    with open(path, "wb") as file:
        file.write(header)
        pad(file)
        for i, shape in enumerate(weights.values()):
            file.write(struct.pack(f"<{shape[0]}f", *[1.0] * shape[0]) if len(shape) == 1
                       else q4_0_blocks(shape, i, device))
            pad(file)


def write_minilm(folder, tiny):
    from transformers import BertConfig, BertModel
    torch.manual_seed(1)
    size = 2000 if tiny else 30522
    config = BertConfig(vocab_size=size, hidden_size=384, num_hidden_layers=1 if tiny else 6,
                        num_attention_heads=12, intermediate_size=1536,
                        max_position_embeddings=512)
    BertModel(config).to(torch.bfloat16).save_pretrained(folder)
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    names += [f"w{i}" for i in range(len(names), size)]
    (folder / "vocab.txt").write_text("\n".join(names) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "BertTokenizer", "do_lower_case": True}))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}))
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
         {"idx": 1, "name": "1", "path": "1_Pooling",
          "type": "sentence_transformers.models.Pooling"}]))


def write_marian(folder, tiny):
    from transformers import MarianConfig, MarianMTModel
    torch.manual_seed(1)
    layers, size = (1, 1000) if tiny else (6, 32000)
    MarianMTModel(MarianConfig(
        vocab_size=size, d_model=512, encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, max_position_embeddings=512, activation_function="relu",
        scale_embedding=True, static_position_embeddings=True, pad_token_id=size - 1,
        eos_token_id=0, bos_token_id=None, decoder_start_token_id=size - 1,
        forced_eos_token_id=None)).save_pretrained(folder)


def write(name, path, tiny, device):
    if name.endswith("-q4_0"):
        return write_gguf(path, name.removesuffix("-q4_0"), tiny, device)
    path.mkdir()
    if name == "minilm":
        return write_minilm(path, tiny)
    if name == "marian":
        return write_marian(path, tiny)
    return write_llama(path, name, tiny, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        path = options.directory / (name + (".gguf" if name.endswith("-q4_0") else ""))
        if path.exists():
            continue
        start = time.time()
        scratch = path.with_name(path.name + ".tmp")
        if scratch.is_dir():
            shutil.rmtree(scratch)
        write(name, scratch, options.tiny, options.device)
        scratch.rename(path)
        print(f"{path}: {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
