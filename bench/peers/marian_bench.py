"""Translates a file's lines with pymarian and a translator of heed that has norms behind its layers (MarianMTModel).

    marian_bench.py MODEL OUT_DIRECTORY --input FILE --threads N [--beam N] [--output FILE]

Writes the weights as model.npz. Marian starts a translation with zeros in place of an embedding, which heed learns, so
translations may differ; their lengths hardly do.
"""
import argparse
import json
import pathlib
import time

import numpy
import pymarian
import safetensors.numpy
import sentencepiece
import yaml


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--input", type=pathlib.Path, required=True)
    parser.add_argument("--threads", required=True)
    parser.add_argument("--beam", default="4")
    parser.add_argument("--output", type=pathlib.Path)
    return parser.parse_args()


def arrays_of(weights, config):
    """The weights by Marian's names; matrices are [in, out] there."""
    arrays = {"Wemb": weights["model.shared.weight"], "decoder_ff_logit_out_b": weights["final_logits_bias"]}

    def add_norm(name, to):
        arrays[f"{to}_ln_scale"] = weights[f"{name}.weight"][None]
        arrays[f"{to}_ln_bias"] = weights[f"{name}.bias"][None]

    def add_product(name, weight, bias):
        arrays[weight] = numpy.ascontiguousarray(weights[f"{name}.weight"].T)
        arrays[bias] = weights[f"{name}.bias"][None]

    def add_attention(name, to):
        for projection, letter in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("out_proj", "o")):
            add_product(f"{name}.{projection}", f"{to}_W{letter}", f"{to}_b{letter}")
        add_norm(f"{name}_layer_norm", f"{to}_Wo")

    for side in ("encoder", "decoder"):
        for i in range(config[f"{side}_layers"]):
            layer, to = f"model.{side}.layers.{i}", f"{side}_l{i + 1}"
            add_attention(f"{layer}.self_attn", f"{to}_self")
            if side == "decoder":
                add_attention(f"{layer}.encoder_attn", f"{to}_context")
            add_product(f"{layer}.fc1", f"{to}_ffn_W1", f"{to}_ffn_b1")
            add_product(f"{layer}.fc2", f"{to}_ffn_W2", f"{to}_ffn_b2")
            add_norm(f"{layer}.final_layer_norm", f"{to}_ffn_ffn")
    return arrays


def settings_of(config):
    return {"type": "transformer", "dim-emb": config["d_model"], "dim-vocabs": [config["vocab_size"]] * 2,
            "enc-depth": config["encoder_layers"], "dec-depth": config["decoder_layers"],
            "transformer-heads": config["encoder_attention_heads"], "transformer-dim-ffn": config["encoder_ffn_dim"],
            "transformer-decoder-dim-ffn": config["decoder_ffn_dim"], "transformer-preprocess": "",
            "transformer-postprocess": "dan", "transformer-postprocess-emb": "d", "transformer-postprocess-top": "",
            "transformer-ffn-activation": config["activation_function"].replace("silu", "swish"),
            "tied-embeddings-all": True, "version": "v1.12.0"}


def write_model(model, out):
    config = json.loads((model / "config.json").read_text())
    if config["model_type"] != "marian":
        raise SystemExit(f"{model} is not of the kind that Marian's decoder computes as it was trained")
    arrays = arrays_of(safetensors.numpy.load_file(model / "model.safetensors"), config)
    arrays = {name: array.astype(numpy.float32) for name, array in arrays.items()}
    text = yaml.safe_dump(settings_of(config), default_flow_style=False).encode() + b"\0"
    arrays["special:model.yml"] = numpy.frombuffer(text, dtype=numpy.int8)
    numpy.savez(out / "model.npz", **arrays)
    (out / "vocab.yml").write_text(json.dumps(json.loads((model / "vocab.json").read_text())))


def main():
    arguments = parse()
    arguments.out.mkdir(exist_ok=True)
    if not (arguments.out / "model.npz").exists():
        write_model(arguments.model, arguments.out)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(arguments.model / "source.spm"))
    lines = [" ".join(pieces.encode(line, out_type=str)) for line in arguments.input.read_text().splitlines()]
    vocabulary = arguments.out / "vocab.yml"
    translator = pymarian.Translator(
        f"--models {arguments.out / 'model.npz'} --vocabs {vocabulary} {vocabulary} --beam-size {arguments.beam} "
        f"--normalize 0.6 --cpu-threads {arguments.threads} --mini-batch 32 --maxi-batch 100 --maxi-batch-sort src "
        "--workspace 500 --quiet")
    translator.translate(lines[:1])
    begin = time.perf_counter()
    translated = translator.translate(lines)
    seconds = time.perf_counter() - begin
    if arguments.output:
        arguments.output.write_text("".join(pieces.decode(line.split()) + "\n" for line in translated))
    print(json.dumps({"per_second": len(lines) / seconds, "version": f"pymarian {pymarian.__version__}"}))


main()
