"""PyTorch and transformers on the same work as heed, under the same names. A line of JSON for each
result: {"work": ..., "peer": ..., "value": ..., "unit": "us" | "tokens/s" | "texts/s" | ...}.

    peers.py [--device cuda|cpu] [--tiny] [--limit SECONDS] PART...

PART: matmul, attention, rows, bits, llama-8b, llama-1b, minilm, marian. --limit bounds each
torch.compile.
"""
import argparse
import json
import pathlib
import signal
import sys
import time
import traceback

import torch
from torch.nn import functional as F

from timing import seconds_of, synchronize

BEYOND_CACHES = 256 << 20
options = None


class TookTooLong(Exception):
    pass


def report(work, peer, value, unit):
    print(json.dumps({"work": work, "peer": peer, "value": round(value, 3), "unit": unit}),
          flush=True)


def attempt(work, peer, measure):
    """Reports what measure() returns, (value, unit), or why it failed."""
    try:
        value, unit = measure()
        report(work, peer, value, unit)
    except Exception as error:  # a peer that fails must not end the others
        reason = " ".join(str(error).split())[:200]
        print(f"peer failed: {work}, {peer}: {type(error).__name__}: {reason}", flush=True)
        if options.tiny:
            traceback.print_exc()


def microseconds(run):
    return seconds_of(run, options.device) * 1e6, "us"


def random(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=options.device).to(dtype)


def copies(size):
    return 2 if options.tiny else max(2, min(128, BEYOND_CACHES // size))


def rotating(many, call):
    """call(thing) with the next of many things each time."""
    state = [0]

    def run():
        state[0] = (state[0] + 1) % len(many)
        return call(many[state[0]])
    return run


def small(n, least=32):
    return max(least, n // 64) if options.tiny else n


def matmul():
    torch.backends.cuda.matmul.allow_tf32 = False
    shapes = [("bf16", torch.bfloat16, (1, 8, 64, 512, 4096),
               ((4096, 4096), (4096, 14336), (14336, 4096), (512, 2048), (512, 32000))),
              ("f32", torch.float32, (1, 8, 64, 512, 2048),
               ((4096, 4096), (512, 2048), (512, 32000)))]
    for name, dtype, rows, sizes in shapes:
        for k, n in sizes:
            weight = random(small(n), small(k), dtype=dtype)
            weights = [weight.clone() for _ in range(copies(weight.nbytes))]
            for m in rows:
                a = random(min(m, 8) if options.tiny else m, small(k), dtype=dtype)
                attempt(f"matmul {name} M={m} {k}x{n}", "torch.mm",
                        lambda: microseconds(rotating(weights, lambda w: torch.mm(a, w.t()))))


def attention_backends():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION,
                    SDPBackend.EFFICIENT_ATTENTION):
        yield f"torch sdpa {backend.name.split('_')[0].lower()}", \
            lambda backend=backend: sdpa_kernel([backend])


def attention_case(work, batch, queries, keys, heads, kv_heads, d, backward=False):
    if options.tiny:
        batch, queries, keys = min(batch, 2), min(queries, 16), min(keys, 16)
    q = random(batch, heads, queries, d)
    k = random(batch, kv_heads, keys, d)
    caches = [k.clone() for _ in range(2 * copies(2 * k.nbytes))]
    pairs = list(zip(caches[::2], caches[1::2]))
    causal, grouped = queries > 1, heads != kv_heads

    def forward(pair):
        return F.scaled_dot_product_attention(q, *pair, is_causal=causal, enable_gqa=grouped)
    for peer, scope in attention_backends():
        def measure():
            with scope():
                if not backward:
                    return microseconds(rotating(pairs, forward))
                inputs = [x.clone().requires_grad_() for x in (q, *pairs[0])]
                out = F.scaled_dot_product_attention(*inputs, is_causal=causal)
                return microseconds(lambda: torch.autograd.grad(out, inputs, q, retain_graph=True))
        attempt(work, peer, measure)


def attention():
    llama = dict(heads=32, kv_heads=8, d=128)
    for batch, keys in ((1, 1024), (1, 8192), (64, 1024), (64, 8192)):
        attention_case(f"attention decode B={batch} T={keys}", batch, 1, keys, **llama)
    for keys in (2048, 8192):
        attention_case(f"attention prefill B=1 T={keys}", 1, keys, keys, **llama)
    attention_case("attention prefill d64 B=256 T=128", 256, 128, 128, 12, 12, 64)
    attention_case("attention backward B=8 T=1024", 8, 1024, 1024, 16, 16, 64, backward=True)
    attention_case("attention backward B=1 T=8192", 1, 8192, 8192, 16, 16, 128, backward=True)


def rows():
    def many(m, n, dtype=torch.bfloat16):
        first = random(min(m, 8) if options.tiny else m, small(n), dtype=dtype)
        return [first.clone() for _ in range(copies(first.nbytes))]
    for m in (1, 64, 4096):
        x, wide = many(m, 4096), many(m, 14336)
        weight = random(small(4096))
        attempt(f"rms_norm {m}x4096", "torch", lambda: microseconds(
            rotating(x, lambda y: F.rms_norm(y, y.shape[-1:], weight, 1e-5))))
        attempt(f"gated silu {m}x14336", "torch", lambda: microseconds(
            rotating(wide, lambda y: F.silu(y) * y)))
        attempt(f"add_to {m}x4096", "torch", lambda: microseconds(
            rotating(x, lambda y: y.add_(x[0]))))
    for m, n in ((4096, 4096), (64, 128256)):
        x = many(m, n, torch.float32)
        attempt(f"softmax {m}x{n}", "torch", lambda: microseconds(
            rotating(x, lambda y: torch.softmax(y, -1))))
    x = many(8192, 512)
    weight = random(small(512))
    attempt("layer_norm 8192x512", "torch", lambda: microseconds(
        rotating(x, lambda y: F.layer_norm(y, y.shape[-1:], weight, weight))))
    x = many(8192, 1536)
    attempt("gelu 8192x1536", "torch", lambda: microseconds(rotating(x, F.gelu)))
    x = many(4096, 4096, torch.float32)
    attempt("convert 4096x4096", "torch", lambda: microseconds(
        rotating(x, lambda y: y.to(torch.bfloat16))))
    shape = (small(16384), small(4096))
    parameters = [torch.nn.Parameter(random(*shape, dtype=torch.float32))]
    parameters[0].grad = random(*shape, dtype=torch.float32)
    optimizer = torch.optim.Adam(parameters, fused=options.device == "cuda")
    attempt("adam 16384x4096", "torch fused", lambda: microseconds(optimizer.step))


def bits():
    """Whether rows of torch.mm have the same bits whatever the number of rows, and those of the
    chain that gpu_probes left."""
    k, n = small(4096), small(4096)
    weight, a = random(n, k), random(small(4096), k)
    alone = {m: torch.mm(a[:m], weight.t())[0] for m in (1, 2, 8, 16, 64, 128, 512, 4096)}
    same = [m for m, row in alone.items() if torch.equal(row, alone[4096])]
    print(f"bits: row 0 of torch.mm with M rows has the bits of M=4096 for M in {same}")
    folder = pathlib.Path(options.dump) if options.dump else None
    if not folder or not (folder / "probe_d.bin").exists():
        return
    def read(name, dtype):
        return torch.frombuffer(bytearray((folder / name).read_bytes()), dtype=dtype)
    tiles, k = 16, 4096
    left = read("probe_a.bin", torch.bfloat16).view(tiles, 16, k).to(options.device)
    right = read("probe_b.bin", torch.bfloat16).view(tiles, 8, k).to(options.device)
    chain = read("probe_d.bin", torch.float32).view(tiles, 16, 8).to(options.device)
    for m in (1, 16):
        found = [torch.mm(left[i, :m], right[i].t(), out_dtype=torch.float32)
                 for i in range(tiles)]
        different = sum((found[i] != chain[i, :m]).sum().item() for i in range(tiles))
        print(f"bits: torch.mm of M={m} differs from the chain in {different} of {tiles * m * 8}")


def compile_within(run):
    """A first call, which compiles: at most --limit seconds."""
    def stop(*_):
        raise TookTooLong(f"not compiled within {options.limit} s")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(options.limit)
    try:
        run()
        synchronize(options.device)
    finally:
        signal.alarm(0)


class Decoder:
    """Steps of decoding with a static cache, a token for each sequence."""

    def __init__(self, model, batch, context, steps):
        from transformers import StaticCache
        self.model, self.batch = model, batch
        self.cache = StaticCache(config=model.config, max_cache_len=context + steps)
        self.tokens = torch.ones((batch, 1), dtype=torch.long, device=options.device)
        prompt = torch.ones((batch, context), dtype=torch.long, device=options.device)
        for begin in range(0, context, 128):  # the memory of a long prefill of many is not needed
            positions = torch.arange(begin, min(begin + 128, context), device=options.device)
            model(prompt[:, begin:begin + 128], past_key_values=self.cache, use_cache=True,
                  cache_position=positions, position_ids=positions[None], logits_to_keep=1)
        self.position = torch.full((1,), context, dtype=torch.long, device=options.device)
        self.forward = model.forward

    def step(self):
        logits = self.forward(self.tokens, past_key_values=self.cache, use_cache=True,
                              cache_position=self.position, position_ids=self.position[None],
                              logits_to_keep=1).logits
        self.tokens.copy_(logits[:, -1].argmax(-1, keepdim=True))

    def tokens_per_second(self, run):
        seconds = seconds_of(run, options.device, series=5, budget=2)
        return self.batch / seconds, "tokens/s"

    def graph(self):
        """A step as a CUDA graph."""
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            self.step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            self.step()
        return graph.replay


def llama_model(name):
    from transformers import LlamaConfig, LlamaForCausalLM
    from make_models import LLAMA, TINY_LLAMA
    config = LlamaConfig(rope_theta=500000.0, max_position_embeddings=16384, rms_norm_eps=1e-5,
                         attn_implementation="sdpa",
                         **(TINY_LLAMA if options.tiny else LLAMA[name]))
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(options.device), torch.inference_mode():
        model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    return model


@torch.inference_mode()
def llama(name):
    start = time.time()
    model = llama_model(name)
    synchronize(options.device)
    print(f"{name}: built in {time.time() - start:.1f} s", flush=True)
    tokens = small(2048)
    prompt = torch.ones((1, tokens), dtype=torch.long, device=options.device)

    def prefill():
        seconds = seconds_of(lambda: model(prompt, use_cache=True, logits_to_keep=1),
                             options.device, series=3, budget=2)
        return tokens / seconds, "tokens/s"
    attempt(f"{name} bf16 prefill 2048", "transformers eager", prefill)
    for batch in (1, 64):
        work = f"{name} bf16 decode B={batch}"
        decoders = []

        def eager():
            decoders.append(Decoder(model, 2 if options.tiny and batch > 1 else batch,
                                    small(1024), 64))
            return decoders[0].tokens_per_second(decoders[0].step)
        attempt(work, "transformers eager, static cache", eager)
        if options.device == "cuda":
            attempt(work, "transformers, CUDA graph",
                    lambda: decoders[0].tokens_per_second(decoders[0].graph()))
        if options.limit > 0 and batch == 1:
            def with_compile():
                decoder = decoders[0]
                decoder.forward = torch.compile(model.forward, mode="max-autotune-no-cudagraphs"
                                                if options.autotune else "default")
                compile_within(decoder.step)
                return decoder.tokens_per_second(decoder.graph() if options.device == "cuda"
                                                 else decoder.step)
            attempt(work, "transformers compiled, CUDA graph", with_compile)
        decoders.clear()


@torch.inference_mode()
def minilm():
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6,
                                 num_attention_heads=12, intermediate_size=1536))
    batch = 4 if options.tiny else 256
    lengths = torch.randint(32, 129, (batch,), generator=torch.Generator().manual_seed(1))
    full = torch.ones((batch, 128), dtype=torch.long, device=options.device)
    ragged = (torch.arange(128)[None] < lengths[:, None]).long().to(options.device)
    tokens = torch.randint(5, 30000, (batch, 128)).to(options.device)

    def embed(mask):
        hidden = model(tokens, attention_mask=mask).last_hidden_state
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)

    def rate(run):
        return batch / seconds_of(run, options.device, series=3, budget=2), "texts/s"
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        model.to(options.device, dtype).eval()
        attempt(f"minilm {name} texts of 128", "transformers eager",
                lambda: rate(lambda: embed(full)))
        attempt(f"minilm {name} texts of 32 to 128", "transformers eager, padded",
                lambda: rate(lambda: embed(ragged)))
    if options.limit > 0:
        def with_compile():
            run = torch.compile(embed)
            compile_within(lambda: run(full))
            return rate(lambda: run(full))
        attempt("minilm bf16 texts of 128", "transformers compiled", with_compile)


@torch.inference_mode()
def marian():
    from transformers import MarianConfig, MarianMTModel
    config = MarianConfig(
        vocab_size=32000, d_model=512, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, max_position_embeddings=512, activation_function="relu",
        scale_embedding=True, static_position_embeddings=True, pad_token_id=31999,
        eos_token_id=0, bos_token_id=None, decoder_start_token_id=31999, forced_eos_token_id=None)
    model = MarianMTModel(config).to(options.device, torch.bfloat16).eval()
    batch, length = (2, 4) if options.tiny else (64, 32)
    tokens = torch.randint(5, 31000, (batch, 32)).to(options.device)
    for beams in (1, 4):
        def measure():
            def run():
                model.generate(tokens, num_beams=beams, do_sample=False, min_new_tokens=length,
                               max_new_tokens=length)
            run()
            seconds = seconds_of(run, options.device, series=2, budget=1)
            return batch * length / seconds, "tokens/s"
        name = "greedy" if beams == 1 else f"beam {beams}"
        attempt(f"marian bf16 {name} B=64", "transformers generate", measure)


PARTS = {"matmul": matmul, "attention": attention, "rows": rows, "bits": bits,
         "llama-8b": lambda: llama("llama-8b"), "llama-1b": lambda: llama("llama-1b"),
         "minilm": minilm, "marian": marian}


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--limit", type=int, default=0, help="0: nothing is compiled")
    parser.add_argument("--autotune", action="store_true")
    parser.add_argument("--dump", help="what gpu_probes --dump left")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    options = parser.parse_args()
    for part in options.parts:
        try:
            PARTS[part]()
        except Exception:
            traceback.print_exc(file=sys.stdout)


main()
