"""What is compared: a function a job. Each yields its cases one by one, so that figures appear as
they are measured."""
import functools
import itertools
import json
import os
import subprocess
from dataclasses import dataclass

from . import models
from .environment import ROOT, Unavailable, python_with, python_with_llama_cpp
from .kinds import UNRESTRICTED, Kind, machine_flags
from .rounds import Case, Program, finish, last_line

PEERS = models.PEERS


@dataclass
class Setting:
    heed: str
    quick: bool
    threads: int
    rounds: int
    seconds: float  # most for a case
    cpu: Kind | None = None  # what all programs are restricted to


def peer(script, modules, *arguments):
    return [python_with(*modules), PEERS / script, *arguments]


def bench(setting, model, *arguments, repeat=1):
    return [setting.heed, "bench", "--json", "--threads", setting.threads, "--repeat", repeat,
            "--model", model, *arguments]


def measured(what, key="per_second"):
    return lambda facts: facts["measured"][what][key]


def arithmetic_of(arithmetic):
    """heed's options for it; int8 quantises weights that are stored in f32."""
    return (["--weights", "q8_0"] if arithmetic == "int8" else []) + ["--compute", arithmetic]


# Translation


@functools.cache
def best_cpu():
    """By default CTranslate2 uses only AVX2 on processors that are not Intel's."""
    if "CT2_FORCE_CPU_ISA" in os.environ:
        return {}
    avx512 = {"avx512f", "avx512bw", "avx512vl"} <= machine_flags()
    return {"CT2_FORCE_CPU_ISA": "AVX512" if avx512 else "AVX2"}


def ctranslate2(setting, model, *arguments, several=True):
    """All threads as workers, and all at the same batch; of one sentence, the latter alone."""
    ways = {(setting.threads, 1), (1, setting.threads)} if several else {(1, setting.threads)}
    return [Program(f"CTranslate2 {workers} x {threads}",
                    peer("ctranslate2_bench.py", ["ctranslate2"], model, "--workers", workers,
                         "--threads", threads, *arguments), environment=best_cpu())
            for workers, threads in sorted(ways)]


def translate_base(setting, arithmetic, beam):
    sentences = 64 if setting.quick else 1000
    model = models.marian_base()
    converted = models.marian_converted(model, "marian-base")
    ours = bench(setting, model, "--prompt-tokens", 32, "--tokens", 31, "--batch", sentences,
                 "--batch-tokens", 16384, "--num-beams", beam, *arithmetic_of(arithmetic))
    theirs = ["--compute", arithmetic, "--beam", beam, "--sentences", sentences, "--length", 32]
    return Case(f"translate, base, 32 tokens, {arithmetic}, beam {beam}, sentences/s", [
        Program("heed", ours, measured("outputs")), *ctranslate2(setting, converted, *theirs)])


def translate_trained(setting, folder, arithmetic, beam):
    model = folder / "model"
    converted = models.marian_converted(model, folder.name)
    text = models.held_out_lines(folder, 100 if setting.quick else 1000)
    ours = bench(setting, model, "--input", text, "--num-beams", beam, *arithmetic_of(arithmetic))
    theirs = ["--compute", arithmetic, "--beam", beam, "--input", text, "--tokenizer", model]
    return Case(f"translate, {folder.name} (small), {arithmetic}, beam {beam}, lines/s", [
        Program("heed", ours, measured("lines")), *ctranslate2(setting, converted, *theirs)])


def translate(setting):
    trained = models.trained_marian()
    for arithmetic in ("f32", "int8"):
        for beam in (4, 1):
            yield translate_base(setting, arithmetic, beam)
            if trained:
                yield translate_trained(setting, trained, arithmetic, beam)


def latency(setting):
    model = models.marian_base()
    converted = models.marian_converted(model, "marian-base")
    repeat = 5 if setting.quick else 20
    for arithmetic in ("f32", "int8"):
        ours = bench(setting, model, "--prompt-tokens", 32, "--tokens", 31, "--batch", 1,
                     *arithmetic_of(arithmetic), repeat=repeat)
        theirs = ["--compute", arithmetic, "--sentences", 1, "--length", 32, "--repeat", repeat]
        yield Case(f"one sentence, base, 32 tokens, {arithmetic}, greedy, sentences/s", [
            Program("heed", ours, measured("outputs")),
            *ctranslate2(setting, converted, *theirs, several=False)])


# Generation


def llama_cpp(setting, model, *arguments, figure="per_second"):
    """Its two ways to hold weights, of which neither is always the faster."""
    command = [python_with_llama_cpp(setting.cpu), PEERS / "llama_cpp_bench.py", model, *arguments]
    return [Program(name, command + way, lambda facts: facts[figure])
            for name, way in (("llama.cpp", []), ("llama.cpp, weights as stored", ["--as-stored"]))]


def compute_for(kind):
    return ["--compute", "bf16" if kind == "bf16" else "int8"]


def decoders(setting):
    for shape in ("smollm2", "1.1b", "moe-2b"):
        for kind in ("q4_0", "q8_0", "bf16", *models.MIXED):
            large = shape != "smollm2"
            if kind not in ("q4_0", "q4_k_m") and (shape == "moe-2b" or setting.quick and large):
                continue
            yield shape, kind, models.decoder(shape, kind)


def reading_shares(everyone):
    """How much of the memory's speed each side used; both read the same weights for a token."""
    ours, *others = everyone
    if not ours.values:
        return ""
    theirs = max((figures.median() for figures in others if figures.values), default=None)
    facts = ours.facts["measured"]["decode"]
    limit = facts["reading_limit"] / facts["weight_bytes_per_step"]
    text = f"of {facts['reading_limit'] / 1e9:.1f} GB/s heed reads {ours.median() / limit:.0%}"
    return text + (f", llama.cpp {theirs / limit:.0%}" if theirs else "")


def decode(setting):
    tokens, context = (32 if setting.quick else 128), 16
    for shape, kind, model in decoders(setting):
        ours = bench(setting, model, "--prompt-tokens", 1, "--context", context, "--tokens", tokens,
                     *compute_for(kind))
        yield Case(f"decode, {shape}, {kind}, tokens/s", [
            Program("heed", ours, measured("decode")),
            *llama_cpp(setting, model, "decode", tokens, context)], remark=reading_shares)


def arithmetic_share(everyone):
    if not everyone[0].values:
        return ""
    facts = everyone[0].facts
    return (f"heed: {facts['measured']['prefill']['share_of_arithmetic']:.0%} of peak "
            f"({facts['compute']})")


def prefill(setting):
    for tokens in (512,) if setting.quick else (512, 4096):
        for shape, kind, model in decoders(setting):
            ours = bench(setting, model, "--prompt-tokens", tokens, "--tokens", 0,
                         *compute_for(kind))
            yield Case(f"prefill of {tokens}, {shape}, {kind}, tokens/s", [
                Program("heed", ours, measured("prefill")),
                *llama_cpp(setting, model, "prefill", tokens)], remark=arithmetic_share)


PROMPT = "The quick brown fox jumps over the lazy dog, and then it goes on to"


def start(setting):
    for kind, model in (("Q4_1", models.smollm2()), ("Q4_K_M", models.smollm2_as("q4_k_m"))):
        ours = [setting.heed, "generate", "--threads", setting.threads, "--model", model,
                "--prompt", PROMPT, "--max-new-tokens", 1]
        yield Case(f"first token of a new process, SmolLM2-135M, {kind}, seconds", [
            Program("heed", ours, figure=None),
            *llama_cpp(setting, model, "start", PROMPT, figure="seconds")], less_is_better=True,
            remark=lambda _: "Python's own start is not counted for llama.cpp")


def memory_needed(setting, model, tokens):
    """Bytes of the file and of the keys and values of `tokens` tokens."""
    info = subprocess.run([setting.heed, "info", model, "--json"], capture_output=True, text=True,
                          check=True)
    per_token = json.loads(info.stdout)["cache_bytes_per_token"]
    return model.stat().st_size + per_token * tokens


def memory(setting):
    tokens, context = (32 if setting.quick else 512), 16
    for shape, kind, model in decoders(setting):
        ours = bench(setting, model, "--prompt-tokens", 1, "--context", context, "--tokens", tokens,
                     *compute_for(kind))
        needed = memory_needed(setting, model, tokens + context)

        def remark(everyone, needed=needed):
            over = everyone[0].median() * 1e6 - needed if everyone[0].values else 0
            return (f"file and cache: {needed / 1e6:.0f} MB; heed {over / 1e6:+.0f} MB "
                    f"({over / needed:+.0%})")

        def megabytes(facts):
            return facts["peak_memory"] / 1e6
        theirs = llama_cpp(setting, model, "decode", tokens, context)
        for program in theirs:
            program.figure = megabytes
        yield Case(f"memory of decoding, {shape}, {kind}, MB", [
            Program("heed", ours, megabytes), *theirs], less_is_better=True, remark=remark)


# Embedding


def unrestricted(name, setting):
    return f"{name}, {UNRESTRICTED}" if setting.cpu else name


def embed(setting):
    for name, encoder, count in (("MiniLM", models.minilm, 10000),
                                 ("XLM-R-base", models.xlm_roberta, 1000)):
        yield from embed_with(setting, name, encoder(),
                              models.sentences(count // 10 if setting.quick else count))


def arithmetics_of_encoders(setting):
    """Of a machine without products of bf16 only two."""
    flags = setting.cpu.flags if setting.cpu else machine_flags()
    return ("f32", "bf16", "int8") if flags & {"avx512_bf16", "amx_bf16"} else ("f32", "int8")


def embed_with(setting, name, model, texts):
    tokenizer = model / "tokenizer.json"
    onnx = {arithmetic: models.onnx_of(name, model, arithmetic) for arithmetic in ("f32", "int8")}
    for arithmetic in arithmetics_of_encoders(setting):
        programs = [
            Program("heed", bench(setting, model, "--input", texts, *arithmetic_of(arithmetic)),
                    measured("lines")),
            Program("PyTorch", peer("sentence_transformers_embed.py",
                                    ["torch", "sentence_transformers"], model, texts,
                                    arithmetic)),
            Program(unrestricted("OpenVINO", setting), peer(
                "openvino_embed.py", ["openvino", "tokenizers"],
                models.openvino_int8_of(name, model) if arithmetic == "int8" else onnx["f32"],
                tokenizer, texts, arithmetic))]
        if arithmetic in onnx:  # onnxruntime has no bf16 on CPUs
            programs.append(Program(unrestricted("onnxruntime", setting), peer(
                "onnxruntime_embed.py", ["onnxruntime", "tokenizers"], onnx[arithmetic], tokenizer,
                texts)))
        yield Case(f"embed, {name}, {arithmetic}, texts/s", programs)


def train_embed(setting):
    """MiniLM with in-batch negatives, about 64 pairs a step. sentence-transformers' trainer pads texts to the longest
    of a batch, so texts of one length are compared as well."""
    batch, steps = 64, 4 if setting.quick else 40
    model = models.minilm()
    out = models.BUILD / "train-embed"
    python = python_with("torch", "sentence_transformers", "datasets")
    for arithmetic, words in itertools.product(arithmetics_of_encoders(setting)[:-1], (None, 16)):
        pairs, tokens = models.pairs(batch * 50, words)
        texts = "mixed lengths" if words is None else f"{words} words"
        yield Case(f"train MiniLM, embed, {batch} pairs of {texts} a step, {arithmetic}, pairs/s", [
            Program("heed", [python, PEERS / "heed_embed_train.py", setting.heed, model, pairs,
                             arithmetic, batch, tokens, steps, out]),
            Program("PyTorch", [python, PEERS / "sentence_transformers_train.py", model, pairs,
                                arithmetic, batch, steps, out])],
            remark=lambda everyone: "heed: {:.0f} pairs a step".format(
                everyone[0].facts["pairs_per_step"]) if everyone[0].facts else "")


# Training has a table of its own.


def train(setting):
    """What bench/train_vs_pytorch prints, shape by shape."""
    folder = os.path.dirname(os.path.dirname(python_with("torch")))
    printed = []
    for shape in ("small",) if setting.quick else ("small", "base", "llama"):
        for arithmetic in ("f32", "bf16"):
            if arithmetic == "bf16" and setting.cpu and not setting.cpu.pytorch_multiplies_bf16():
                print(f"| {shape} | {arithmetic} | PyTorch needs AVX-512 for bf16 |", flush=True)
                continue
            command = [ROOT / "bench" / "train_vs_pytorch", shape, "--dtypes", arithmetic,
                       "--venv", folder, "--rounds", setting.rounds]
            command += ["--cpu", setting.cpu.name] if setting.cpu else []
            result = finish(command, setting.seconds)
            if result is None:
                print(f"| {shape} | {arithmetic} | out of time |", flush=True)
                continue
            status, out, errors = result
            if status != 0:
                raise Unavailable(f"bench/train_vs_pytorch failed: {last_line(errors)}")
            table = [text for text in out.splitlines() if text.startswith("|")]
            print("\n".join(table[2:] if printed else ["", *table]), flush=True)
            printed += table
    return ()


JOBS = {job.__name__: job for job in
        (translate, latency, decode, prefill, embed, train_embed, start, memory, train)}
