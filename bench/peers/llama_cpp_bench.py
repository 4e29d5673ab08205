"""llama.cpp's side of bench/compare, without loading: as heed bench, one line of JSON.

    llama_cpp_bench.py MODEL.gguf prefill TOKENS
    llama_cpp_bench.py MODEL.gguf decode TOKENS CONTEXT
    llama_cpp_bench.py MODEL.gguf start TEXT        seconds to the first token, loading included

With --as-stored, llama.cpp does not repack the weights while loading, as it does otherwise.
"""
import importlib.metadata
import json
import os
import resource
import sys
import time

import llama_cpp as api
import numpy

REPACKED = "--as-stored" not in sys.argv  # weights in the order that its fastest products want
SILENT = api.llama_log_callback(lambda *_: None)


class Model:
    """A model and a context of `length` tokens, all of which may be one batch."""

    def __init__(self, path, length):
        api.llama_log_set(SILENT, None)
        api.llama_backend_init()
        loading = api.llama_model_default_params()
        loading.use_extra_bufts = REPACKED
        self.model = api.llama_model_load_from_file(path.encode(), loading)
        if not self.model:
            sys.exit(f"llama.cpp cannot load {path}")
        settings = api.llama_context_default_params()
        settings.n_ctx = length
        settings.n_batch = length
        settings.n_threads = settings.n_threads_batch = int(os.environ["OMP_NUM_THREADS"])
        self.context = api.llama_init_from_model(self.model, settings)
        self.vocabulary = api.llama_model_get_vocab(self.model)
        self.size = api.llama_vocab_n_tokens(self.vocabulary)

    def clear(self):
        api.llama_memory_clear(api.llama_get_memory(self.context), True)

    def feed(self, tokens):
        """Feeds tokens after those fed before; returns the most probable next token."""
        kept = (api.llama_token * len(tokens))(*tokens)  # the batch points into it
        batch = api.llama_batch_get_one(kept, len(kept))
        if api.llama_decode(self.context, batch) != 0:
            sys.exit("llama_decode failed")
        logits = api.llama_get_logits_ith(self.context, -1)
        return int(numpy.ctypeslib.as_array(logits, (self.size,)).argmax())

    def tokens(self, text):
        data = text.encode()
        found = (api.llama_token * (len(data) + 8))()
        count = api.llama_tokenize(self.vocabulary, data, len(data), found, len(found), True, True)
        return list(found[:count])


def made_up(model, count):
    return [(i * 7919 + 13) % model.size for i in range(count)]


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def prefill(path, count):
    model = Model(path, count + 8)
    model.feed(made_up(model, 16))

    def once():
        model.clear()
        return seconds(lambda: model.feed(made_up(model, count)))
    return count / once()


def decode(path, count, context):
    model = Model(path, count + context + 8)
    token = model.feed(made_up(model, context))
    token = model.feed([token])

    def steps():
        nonlocal token
        for _ in range(count):
            token = model.feed([token])
    return count / seconds(steps)


def start(path, text):
    def first_token():
        model = Model(path, 512)
        model.feed(model.tokens(text))
    return seconds(first_token)


def main():
    path, job, *rest = [word for word in sys.argv[1:] if word != "--as-stored"]
    if job == "prefill":
        facts = {"per_second": prefill(path, int(rest[0]))}
    elif job == "decode":
        facts = {"per_second": decode(path, int(rest[0]), int(rest[1]))}
    else:
        facts = {"seconds": start(path, rest[0])}
    facts["peak_memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    facts["version"] = "llama-cpp-python " + importlib.metadata.version("llama-cpp-python")
    print(json.dumps(facts))


main()
