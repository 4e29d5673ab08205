"""CTranslate2's side of translating: made-up sentences whose translations all have the same length,
or the lines of a file. One line of JSON.

    ctranslate2_bench.py MODEL --compute f32|int8 --beam 4 --workers 2 --threads 1
        (--sentences 1000 --length 32 | --input FILE --tokenizer MODEL_DIRECTORY [--vmap])
"""
import argparse
import json
import pathlib
import resource
import statistics
import time

import ctranslate2

BATCH = 32


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--compute", choices=["f32", "int8"], required=True)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--length", type=int)
    parser.add_argument("--input", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--vmap", action="store_true", help="the model has a vocabulary map")
    return parser.parse_args()


def vocabulary(model):
    folder = pathlib.Path(model)
    path = folder / "shared_vocabulary.json"
    return json.loads((path if path.exists() else folder / "source_vocabulary.json").read_text())


def made_up(arguments):
    """Translates sentences of numbers to as many tokens as they have."""
    tokens = vocabulary(arguments.model)
    sentences = [[tokens[2 + (b * 104729 + i * 7919) % (len(tokens) - 3)]
                  for i in range(arguments.length)] for b in range(arguments.sentences)]
    lengths = dict(min_decoding_length=arguments.length, max_decoding_length=arguments.length)

    def work(translator):
        results = translator.translate_batch(sentences, beam_size=arguments.beam,
                                             max_batch_size=BATCH, **lengths)
        assert all(len(result.hypotheses[0]) == arguments.length for result in results)
    return len(sentences), work


def from_text(arguments):
    """Translates lines of text, including tokenization."""
    import sentencepiece
    source = sentencepiece.SentencePieceProcessor(str(arguments.tokenizer / "source.spm"))
    target = sentencepiece.SentencePieceProcessor(str(arguments.tokenizer / "target.spm"))
    end = json.loads((arguments.tokenizer / "config.json").read_text())["eos_token_id"]
    end_piece = vocabulary(arguments.model)[end]
    lines = arguments.input.read_text().splitlines()

    def work(translator):
        pieces = [line + [end_piece] for line in source.encode(lines, out_type=str)]
        results = translator.translate_batch(pieces, beam_size=arguments.beam,
                                             length_penalty=0.6, max_batch_size=BATCH,
                                             use_vmap=arguments.vmap)
        return target.decode([result.hypotheses[0] for result in results])
    return len(lines), work


def main():
    arguments = parse()
    translator = ctranslate2.Translator(
        arguments.model, device="cpu", inter_threads=arguments.workers,
        intra_threads=arguments.threads,
        compute_type="int8" if arguments.compute == "int8" else "float32")
    count, work = from_text(arguments) if arguments.input else made_up(arguments)
    translator.translate_batch([["1"] * 8] * 4, max_decoding_length=4)
    seconds = []
    for _ in range(arguments.repeat):
        begin = time.perf_counter()
        work(translator)
        seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"per_second": count / statistics.median(seconds), "peak_memory": peak,
                      "version": f"CTranslate2 {ctranslate2.__version__}"}))


main()
