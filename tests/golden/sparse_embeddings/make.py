#!/usr/bin/env python3
"""Makes the folders beside this file: sparse vectors of texts.

masked-lm    a tiny random masked language model, as published; the others are its modules:
splade-*     modules.json and the settings of a SparseEncoder; expected.json has its "indices" and "values"
bge-m3       sparse_linear.pt and colbert_linear.pt for ../encoders/embed-xlm-roberta, and what FlagEmbedding computes
             with them: lexical weights, and a normalised vector for each token but the first

    python3 -m venv venv
    venv/bin/pip install torch transformers sentence-transformers==6.2.0
    venv/bin/python tests/golden/sparse_embeddings/make.py
"""
import json
import pathlib
import shutil
import tempfile

import torch
import transformers as hf
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sparse_encoder.modules import SpladePooling

HERE = pathlib.Path(__file__).parent
BERT, XLM_ROBERTA = HERE.parent / "encoders/embed-bert", HERE.parent / "encoders/embed-xlm-roberta"
TEXTS = json.loads((BERT / "expected.json").read_text())["texts"]

torch.set_num_threads(1)


def folder_of(name):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def write(folder, **expected):
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def masked_lm():
    folder = folder_of("masked-lm")
    model = hf.BertForMaskedLM(hf.BertConfig.from_pretrained(BERT))
    generator = torch.Generator().manual_seed(7)
    for name, parameter in model.named_parameters():
        gain = "norm" in name.lower() and name.endswith("weight")
        parameter.data = 0.2 * torch.randn(parameter.shape, generator=generator) + (1.0 if gain else 0.0)
    model.save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(BERT / file, folder)


def expected_of(encoder, **arguments):
    found = dict(indices=[], values=[])
    for text in TEXTS:
        vector = encoder.encode(text, convert_to_sparse_tensor=False, **arguments)
        indices = vector.nonzero().flatten()
        found["indices"].append(indices.tolist())
        found["values"].append([round(x, 7) for x in vector[indices].tolist()])
    return found


def splade(name, pooling, legacy=False, **more):
    folder = folder_of(name)
    transformer = Transformer(str(HERE / "masked-lm"), transformer_task="fill-mask",
                              model_kwargs=dict(attn_implementation="eager"))
    encoder = SparseEncoder(modules=[transformer, pooling], device="cpu", prompts=dict(query="the cat "), **more)
    with tempfile.TemporaryDirectory() as scratch:
        encoder.save(scratch, create_model_card=False)
        for entry in pathlib.Path(scratch).iterdir():
            if entry.is_dir():
                shutil.copytree(entry, folder / entry.name)
            elif entry.name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
                shutil.copy(entry, folder)
    if legacy:
        modules = json.loads((folder / "modules.json").read_text())
        modules[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
        (folder / "modules.json").write_text(json.dumps(modules, indent=1) + "\n")
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 48, "do_lower_case": false}\n')
    write(folder, **expected_of(encoder), query=expected_of(encoder, prompt_name="query"))


def bge_m3():
    folder = folder_of("bge-m3")
    generator = torch.Generator().manual_seed(5)
    sparse, colbert = torch.nn.Linear(16, 1), torch.nn.Linear(16, 16)
    for linear in (sparse, colbert):
        linear.weight.data = torch.randn(linear.weight.shape, generator=generator) * 0.3
        linear.bias.data = torch.randn(linear.bias.shape, generator=generator) * 0.1
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")
    torch.save(colbert.state_dict(), folder / "colbert_linear.pt")
    with tempfile.TemporaryDirectory() as scratch:
        for file in XLM_ROBERTA.iterdir():
            if file.is_file():
                shutil.copy(file, scratch)
        tokenizer = hf.XLMRobertaTokenizer.from_pretrained(scratch, model_max_length=46)
        model = hf.XLMRobertaModel.from_pretrained(scratch, attn_implementation="eager").eval()
    unused = {tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    lexical, vectors = dict(indices=[], values=[]), []
    for text in TEXTS:
        inputs = tokenizer(text, return_tensors="pt", truncation=True)
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
            weights = torch.relu(sparse(states))[0, :, 0].tolist()
            own = torch.nn.functional.normalize(colbert(states[:, 1:]), dim=-1)[0]
        largest = {}
        for weight, token in zip(weights, inputs["input_ids"][0].tolist()):
            if token not in unused and weight > 0:
                largest[token] = max(weight, largest.get(token, 0))
        lexical["indices"].append(sorted(largest))
        lexical["values"].append([round(largest[token], 7) for token in sorted(largest)])
        vectors.append([[round(x, 7) for x in row] for row in own.tolist()])
    write(folder, **lexical, vectors=vectors)


def main():
    masked_lm()
    splade("splade-max", SpladePooling("max"))
    splade("splade-sum", SpladePooling("sum"), max_active_dims=9)
    splade("splade-log-twice", SpladePooling("max", activation_function="log1p_relu"), legacy=True)
    bge_m3()


if __name__ == "__main__":
    main()
