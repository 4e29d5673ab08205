"""What llama.cpp computes for given tokens, through llama-cpp-python's low-level interface."""
import ctypes
import os

import llama_cpp
import numpy as np

NONE, MEAN, CLS, RANK = (llama_cpp.LLAMA_POOLING_TYPE_NONE, llama_cpp.LLAMA_POOLING_TYPE_MEAN,
                         llama_cpp.LLAMA_POOLING_TYPE_CLS, llama_cpp.LLAMA_POOLING_TYPE_RANK)


@llama_cpp.llama_log_callback
def keep_problems(level, text, data):
    if level >= 4:  # GGML_LOG_LEVEL_ERROR
        os.write(2, text)


llama_cpp.llama_log_set(keep_problems, ctypes.c_void_p())
llama_cpp.llama_backend_init()


class Model:
    """A file with a context of f32 keys and values, without flash attention: as exact as it gets.
    `pooling` None: logits; else embeddings."""

    def __init__(self, file, pooling=None):
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(str(file).encode(), parameters)
        if not self.model:
            raise ValueError(f"llama.cpp does not open {file}")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = settings.n_batch = settings.n_ubatch = 512
        settings.n_threads = settings.n_threads_batch = 1
        settings.type_k = settings.type_v = llama_cpp.GGML_TYPE_F32
        settings.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        settings.embeddings = pooling is not None
        settings.pooling_type = NONE if pooling is None else pooling
        self.pooling = pooling
        self.context = llama_cpp.llama_init_from_model(self.model, settings)

    def __del__(self):
        if getattr(self, "context", None):
            llama_cpp.llama_free(self.context)
        if getattr(self, "model", None):
            llama_cpp.llama_model_free(self.model)

    def add_adapter(self, file):
        """From now on; as long as the model."""
        self.adapter = llama_cpp.llama_adapter_lora_init(self.model, str(file).encode())
        if not self.adapter:
            raise ValueError(f"llama.cpp does not open {file}")
        adapters, scales = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(self.adapter), (ctypes.c_float * 1)(1)
        if llama_cpp.llama_set_adapters_lora(self.context, adapters, 1, scales):
            raise ValueError(f"llama.cpp does not apply {file}")

    def vocab_size(self):
        return llama_cpp.llama_vocab_n_tokens(self.vocabulary)

    def tokens(self, text):
        """With special tokens."""
        data = text.encode()
        found = (llama_cpp.llama_token * (len(data) + 8))()
        count = llama_cpp.llama_tokenize(self.vocabulary, data, len(data), found, len(found), True,
                                         True)
        return list(found[:count])

    def run(self, function, tokens):
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.logits[i] = int(token), i, True
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
        batch.n_tokens = len(tokens)
        status = function(self.context, batch)
        llama_cpp.llama_batch_free(batch)
        if status:
            raise ValueError(f"llama.cpp fails with {status}")

    def logits(self, tokens, source=None):
        """[tokens, V]; with `source`, of an encoder-decoder."""
        memory = llama_cpp.llama_get_memory(self.context)
        if memory:
            llama_cpp.llama_memory_clear(memory, True)
        if source:
            self.run(llama_cpp.llama_encode, source)
        self.run(llama_cpp.llama_decode, tokens)
        return np.array([np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, i),
                                               (self.vocab_size(),)) for i in range(len(tokens))])

    def embedding(self, tokens):
        """The pooled vector, or the labels' logits with RANK."""
        self.run(llama_cpp.llama_encode, tokens)
        size = (llama_cpp.llama_model_n_cls_out if self.pooling == RANK
                else llama_cpp.llama_model_n_embd)(self.model)
        return np.array(np.ctypeslib.as_array(
            llama_cpp.llama_get_embeddings_seq(self.context, 0), (size,)))
