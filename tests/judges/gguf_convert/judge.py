#!/usr/bin/env python3
"""Compares the GGUF files of `heed convert` with those of llama.cpp's own converter.

For each family, a small model directory with random weights and a golden tokenizer is converted by both
programs to f32, f16, bf16 and q8_0. Their metadata must agree but for OTHER_KEYS (README.md explains
them), and their tensors byte for byte; so must those of the f32 file that heed converts to the others. Then
llama.cpp opens heed's f32 file: its tokens of LINES lines must be those that heed has from the directory,
and its logits, too (cosine above 0.99999). The same for a LoRA adapter of peft alone, which llama.cpp
applies to that file. heed's directories of 16 bits must have the tensors that transformers saves, and
transformers must open them.

    git clone https://github.com/ggml-org/llama.cpp
    venv/bin/pip install torch transformers peft sentencepiece tokenizers llama.cpp/gguf-py llama-cpp-python
    venv/bin/python tests/judges/gguf_convert/judge.py build/release/heed llama.cpp [FAMILY ...]

Prints a line for each file and each difference; exits with 1 if there is a difference.
"""
import importlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HEED, LLAMA = sys.argv[1], pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden"
sys.path[:0] = [str(LLAMA), str(LLAMA / "gguf-py"), str(GOLDEN / "tokenizers"),
                str(HERE.parent / "gguf_types")]

import gguf
import llama
import numpy as np
import peft
import safetensors.torch
import sentencepiece
import torch
import transformers

TYPES = {"f32": gguf.LlamaFileType.ALL_F32, "f16": gguf.LlamaFileType.MOSTLY_F16,
         "bf16": gguf.LlamaFileType.MOSTLY_BF16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
LINES = 10000
# Keys that only one of the programs writes, and names that mean the same.
OTHER_KEYS = ("general.size_label", "general.name", "general.basename", "general.finetune",
              ".vocab_size", ".attention.key_length", ".attention.value_length",
              ".rope.dimension_count", ".rope.scaling.type", "tokenizer.ggml.add_sep_token",
              "tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", ".expert_weights_norm",
              ".expert_gating_func", "tokenizer.ggml.add_space_prefix",
              "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.padding_token_id",
              ".rope.scaling.original_context_length", ".rope.freq_base",
              "tokenizer.ggml.token_type_count", "tokenizer.ggml.mask_token_id",
              "tokenizer.ggml.seperator_token_id")
# Each family: its configuration, the tokenizer, llama.cpp's class and its name for the pre-tokenizer.
SIZES = dict(hidden_size=64, intermediate_size=160, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256)
ROPE = dict(rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0,
            high_freq_factor=4.0, original_max_position_embeddings=64)
FAMILIES = {
    "llama3": ("LlamaConfig", dict(SIZES, rope_parameters=ROPE), "llama3", "llama.LlamaModel",
               "llama-bpe"),
    "llama2": ("LlamaConfig", SIZES, "llama2", "llama.LlamaModel", None),
    "mistral": ("MistralConfig", dict(SIZES, sliding_window=None), "bpe.model", "llama.LlamaModel",
                None),
    "qwen2": ("Qwen2Config", SIZES, "qwen2", "qwen.Qwen2Model", "qwen2"),
    "qwen3": ("Qwen3Config", dict(SIZES, head_dim=32), "qwen2", "qwen.Qwen3Model", "qwen2"),
    "gemma2": ("Gemma2Config", dict(SIZES, head_dim=32, query_pre_attn_scalar=32), "bpe.model",
               "gemma.Gemma2Model", None),
    "gpt2": ("GPT2Config", dict(bos_token_id=None, n_embd=64, n_layer=2, n_head=4, n_positions=256), "gpt2",
             "gpt2.GPT2Model", "gpt-2"),
    "phi3": ("Phi3Config", dict(SIZES, original_max_position_embeddings=256, pad_token_id=0,
                                sliding_window=None), "bpe.model", "phi.Phi3MiniModel", None),
    "mt5": ("MT5Config", dict(d_model=64, d_kv=16, d_ff=160, num_layers=2, num_heads=4,
                              decoder_start_token_id=0, tie_word_embeddings=False), "unigram.model", "t5.T5Model", None),
    "distilbert": ("DistilBertConfig", dict(dim=64, hidden_dim=160, n_layers=2, n_heads=4), "bert_uncased",
                   "bert.DistilBertModel", "jina-v2-en"),
}
# Of each family, the classes of transformers that make the model, and the modules that get an adapter.
CLASSES = {"mt5": transformers.AutoModelForSeq2SeqLM, "distilbert": transformers.AutoModel}
ADAPTED = {"gpt2": ["c_attn", "c_fc", "c_proj"], "phi3": ["qkv_proj", "down_proj"],
           "mt5": ["q", "v", "wo"], "distilbert": ["q_lin", "v_lin", "lin2"]}


def tokenizer_of(name, folder):
    """A golden tokenizer: a tokenizer.json or a SentencePiece model. Of a tokenizer.json of the second
    kind, the converter does not read the order of the merges."""
    if name.endswith(".model"):
        shutil.copy(GOLDEN / "sentencepiece" / name, folder / "tokenizer.model")
        roles = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
        (folder / "tokenizer_config.json").write_text(json.dumps(
            {"tokenizer_class": "LlamaTokenizer", "legacy": True, "bos_token": None,
             "add_bos_token": False} | roles))
        return sentencepiece.SentencePieceProcessor(str(folder / "tokenizer.model")), roles
    text = (GOLDEN / "tokenizers" / f"{name}.json").read_text()
    (folder / "tokenizer.json").write_text(text)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    names = {t.content for t in tokenizer.added_tokens_decoder.values()}
    roles = {"bos_token": ("<s>", "<bos>", "<|begin_of_text|>"),
             "eos_token": ("</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>"),
             "unk_token": ("<unk>",), "pad_token": ("<pad>",)}
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for role, candidates in roles.items():
        config |= {role: c for c in candidates if c in names}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tokenizer, config


def make(name, folder):
    kind, sizes, tokenizer_name, _, _ = FAMILIES[name]
    tokenizer, roles = tokenizer_of(tokenizer_name, folder)
    id_of = getattr(tokenizer, "convert_tokens_to_ids", None) or tokenizer.piece_to_id
    ids = {f"{role}_id": id_of(roles[role]) if role in roles else None
           for role in ("bos_token", "eos_token", "pad_token")}
    config = getattr(transformers, kind)(**(dict(vocab_size=len(tokenizer)) | ids | sizes))
    torch.manual_seed(1)
    model = CLASSES.get(name, transformers.AutoModelForCausalLM).from_config(config)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, 1.0 if "norm" in name else 0.0, 0.2)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    modules = ADAPTED.get(name, ["q_proj", "k_proj", "o_proj", "down_proj"])
    adapted = peft.get_peft_model(model, peft.LoraConfig(
        r=4, lora_alpha=6, target_modules=modules, fan_in_fan_out=name == "gpt2"))
    for parameter_name, parameter in adapted.named_parameters():
        if "lora_" in parameter_name:
            torch.nn.init.normal_(parameter, 0, 0.2)
    adapted.save_pretrained(adapter_of(folder))
    (adapter_of(folder) / "README.md").unlink()  # of which the script makes metadata


def adapter_of(folder):
    return folder.with_name(folder.name + "-adapter")


def converted(name, folder, kind, target):
    """By llama.cpp's converter, which knows published tokenizers only by the hash of some ids."""
    module, _, cls = FAMILIES[name][3].partition(".")
    base = getattr(importlib.import_module(f"conversion.{module}"), cls)
    pre = FAMILIES[name][4]
    own = type(cls, (base,), {"model_arch": base.model_arch,
                              "get_vocab_base_pre": lambda self, tokenizer: pre})
    hparams = json.loads((folder / "config.json").read_text())
    if "n_positions" in hparams:
        hparams["n_ctx"] = hparams["n_positions"]
    if name == "phi3":
        hparams["rope_parameters"]["original_max_position_embeddings"] = 256
    if name == "mt5":
        shutil.copy(folder / "tokenizer.model", folder / "spiece.model")
    own(folder, TYPES[kind], target, eager=True, model_name=name, hparams=hparams).write()


def contents(path):
    reader = gguf.GGUFReader(path)
    values = {key: field.contents() for key, field in reader.fields.items()
              if not key.startswith("GGUF.")}
    tensors = {tensor.name: (tensor.tensor_type.name, list(tensor.shape), tensor.data.tobytes())
               for tensor in reader.tensors}
    return values, tensors


def differences(expected, found):
    values, tensors = contents(expected)
    own_values, own_tensors = contents(found)
    for key in sorted(values.keys() | own_values.keys()):
        a, b = values.get(key), own_values.get(key)
        if a == b or key == "general.name" or (None in (a, b) and key.endswith(OTHER_KEYS)):
            continue
        if key == "tokenizer.ggml.scores" and set(a) == {-1000.0}:
            continue  # the converter has read no tokenizer.model
        if key.endswith("add_space_prefix") and values["general.architecture"].startswith("gemma"):
            continue  # the converter always says false
        yield f"{key} is {str(b)[:80]}, llama.cpp's {str(a)[:80]}"
    for tensor in sorted(tensors.keys() | own_tensors.keys()):
        if tensor == "output.weight" and tensor not in tensors:
            continue  # mT5's, which transformers ties: a copy of the embedding
        if tensors.get(tensor) != own_tensors.get(tensor):
            a, b = tensors.get(tensor), own_tensors.get(tensor)
            yield f"{tensor}: {'other bytes' if a and b and a[:2] == b[:2] else (a and a[:2], b and b[:2])}"


def run(*arguments, stdin=None):
    result = subprocess.run([HEED, *map(str, arguments)], capture_output=True, text=True, input=stdin)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    return result.stdout


def lines_of_text():
    """Words of the texts that the golden tokenizers are tested with."""
    fragments = (GOLDEN / "tokenizers" / "fragments.txt").read_text(errors="ignore").splitlines()
    words = [word for fragment in fragments for word in fragment.split() if word.isprintable()]
    dice = random.Random(1)
    return [" ".join(dice.choices(words, k=dice.randint(1, 12))) for _ in range(LINES)]


def other_rows(folder, model, *options):
    """The number of rows of logits that differ in llama.cpp."""
    prompt = list(range(3, 103))
    rows = np.array(json.loads(run("logits", "--model", folder, "--tokens",
                                   ",".join(map(str, prompt)), *options))["logits"])
    found = model.logits(prompt)
    cosine = (rows * found).sum(1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(found, axis=1)
    return int((cosine < 0.99999).sum())


def opened(folder, file):
    """The number of lines with other tokens in llama.cpp, and of rows of logits that differ, without and
    with the adapter beside the file."""
    model = llama.Model(file)
    texts = lines_of_text()
    ids = run("tokenizer", "encode", "--special", "--model", folder,
              stdin="\n".join(texts) + "\n").splitlines()
    expected = [[int(token) for token in line.split()] for line in ids]
    tokens = [model.tokens(text) for text in texts]
    other = [i for i in range(LINES) if tokens[i] != expected[i]]
    for i in other[:3]:
        print("   ", repr(texts[i]), "heed", expected[i], "llama.cpp", tokens[i])
    plain = other_rows(folder, model)
    model.add_adapter(file.with_name("ours-adapter-f32.gguf"))
    adapted = other_rows(folder, model, "--adapter", adapter_of(folder))
    assert other_rows(folder, model) > 50, "the adapter changes too little"
    return len(other), plain, adapted


def compared(what, expected, found):
    listed = list(differences(expected, found))
    print(f"{what}: {len(listed)} differences", flush=True)
    for line in listed:
        print("   ", line)
    return len(listed)


def judge_adapter(name, folder, scratch):
    """The adapter alone, and read back."""
    count, adapter = 0, adapter_of(folder)
    for kind in TYPES:
        expected, found = (scratch / f"{whose}-adapter-{kind}.gguf" for whose in ("theirs", "ours"))
        subprocess.run([sys.executable, LLAMA / "convert_lora_to_gguf.py", "--base", folder, "--outfile",
                        expected, "--outtype", kind, adapter], check=True, capture_output=True)
        run("convert", adapter, "--base", folder, "--weights", kind, "--out", found)
        if name != "gpt2":
            count += compared(f"{name}'s adapter {kind}", expected, found)
    run("convert", scratch / "ours-adapter-f32.gguf", "--base", folder, "--out", scratch / "again")
    before, after = (safetensors.torch.load_file(path / "adapter_model.safetensors")
                     for path in (adapter, scratch / "again"))
    same = before.keys() == after.keys() and all(torch.equal(before[key], after[key]) for key in before)
    print(f"{name}'s adapter read back: {'the same' if same else 'another'}", flush=True)
    return count + (not same)


def judge_directory(name, folder, scratch):
    """Directories of 16 bits, of the directory and of its GGUF file."""
    count, kind = 0, CLASSES.get(name, transformers.AutoModelForCausalLM)
    for dtype in (torch.bfloat16, torch.float16):
        short = {torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
        kind.from_pretrained(folder, dtype=dtype).save_pretrained(scratch / f"theirs-{short}")
        expected = safetensors.torch.load_file(scratch / f"theirs-{short}/model.safetensors")
        # heed saves no unigram tokenizer of a GGUF file.
        for source in (folder, scratch / "ours-f32.gguf")[:1 if name == "mt5" else 2]:
            target = scratch / f"ours-{short}-{source.suffix[1:]}"
            run("convert", source, "--weights", short, "--out", target)
            found = safetensors.torch.load_file(target / "model.safetensors")
            model = kind.from_pretrained(target, dtype="auto")
            if "lm_head.weight" not in expected:
                found.pop("lm_head.weight", None)  # mT5's
            # Of mT5, transformers keeps .wo. in f32 beside f16.
            # A GGUF file has Gemma's norms with 1 added, which loses their last bits in f32.
            rounded = name == "gemma2" and source.suffix == ".gguf"
            other = len(expected.keys() ^ found.keys()) + sum(
                not (torch.allclose(expected[key].to(dtype), found[key], rtol=2**-7)
                     if rounded and "norm" in key else torch.equal(expected[key].to(dtype), found[key]))
                for key in expected.keys() & found.keys())
            print(f"{name} in {short} from {source.name}: {other} tensors differ, opened in {model.dtype}",
                  flush=True)
            count += other + (model.dtype != dtype)
    return count


def judge(name):
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = scratch / name
        folder.mkdir()
        make(name, folder)
        for kind in TYPES:
            expected, found = scratch / f"theirs-{kind}.gguf", scratch / f"ours-{kind}.gguf"
            converted(name, folder, kind, expected)
            run("convert", folder, "--weights", kind, "--out", found)
            count += compared(f"{name} {kind}", expected, found)
            again = scratch / f"again-{kind}.gguf"
            run("convert", scratch / "ours-f32.gguf", "--weights", kind, "--out", again)
            count += compared(f"{name} f32 to {kind}", expected, again)
        count += judge_adapter(name, folder, scratch) + judge_directory(name, folder, scratch)
        if FAMILIES[name][2].endswith(".model") or name in CLASSES:
            return count  # llama.cpp opens no vocabulary without pieces for bytes
        lines, rows, adapted = opened(folder, scratch / "ours-f32.gguf")
        print(f"{name}: {lines} of {LINES} lines have other tokens in llama.cpp, {rows} of 100 rows "
              f"other logits, {adapted} with the adapter", flush=True)
    return count + lines + rows + adapted


total = sum(judge(name) for name in sys.argv[3:] or FAMILIES)
print(f"{total} differences")
sys.exit(total > 0)
