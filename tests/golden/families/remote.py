"""Encoders whose published files need code of their own, written for make.py from their papers and the
names in their files: Alibaba's GTE ("new"), nomic-embed-text-v2-moe and JinaBERT.

Modules are named as the tensors in the files. All are post-norm encoders without padding.
"""
import math

import torch
import transformers as hf
from torch import nn
from torch.nn.functional import gelu, softmax
from transformers.modeling_outputs import BaseModelOutputWithPooling, MaskedLMOutput


class Names(nn.Module):
    """Modules by names that may have dots."""

    def put(self, name, part):
        first, _, rest = name.partition(".")
        if not rest:
            self.add_module(first, part)
            return
        if first not in self._modules:
            self.add_module(first, Names())
        Names.put(self._modules[first], rest, part)

    at = nn.Module.get_submodule


def attend(q, k, v, heads, bias=0.0):
    """q, k, v [T, H d] -> [T, H d]; `bias` is added to the scaled scores [H, T, T]."""
    q, k, v = (x.view(len(x), heads, -1).transpose(0, 1) for x in (q, k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + bias
    return (softmax(scores, -1) @ v).transpose(0, 1).flatten(1)


def rotated(x, heads, frequencies):
    x = x.view(len(x), heads, -1)
    angle = torch.arange(len(x))[:, None, None] * frequencies
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1).flatten(1)


class Encoder(hf.PreTrainedModel):
    """The parts that all have: `layer(number)` makes a layer, `run(layer, x)` runs it."""
    config_class = hf.PretrainedConfig

    def __init__(self, config):
        super().__init__(config)
        c = config
        norm = lambda: nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)
        parts = {"embeddings.word_embeddings": nn.Embedding(c.vocab_size, c.hidden_size),
                 "embeddings.token_type_embeddings": nn.Embedding(c.type_vocab_size, c.hidden_size),
                 self.embedding_norm: norm()}
        for number in range(c.num_hidden_layers):
            for name, part in self.layer(number, norm).items():
                parts[f"encoder.{self.layers}.{number}.{name}"] = part
        parts |= self.more(norm)
        for name, part in parts.items():
            Names.put(self, name, part)
        self.post_init()

    def _init_weights(self, module):
        pass

    def more(self, norm):
        return {}

    def states(self, tokens, types):
        types = torch.zeros_like(tokens) if types is None else types
        x = self.embeddings.at("word_embeddings")(tokens) + self.embeddings.at("token_type_embeddings")(types)
        x = self.get_submodule(self.embedding_norm)(x)
        for number in range(self.config.num_hidden_layers):
            x = self.run(self.get_submodule(f"encoder.{self.layers}.{number}"), x, number)
        return x

    def forward(self, input_ids, token_type_ids=None):
        """One text, [1, T]."""
        x = self.states(input_ids[0], None if token_type_ids is None else token_type_ids[0])
        pooled = torch.tanh(self.pooler.at("dense")(x[:1])) if hasattr(self, "pooler") else None
        return BaseModelOutputWithPooling(last_hidden_state=x[None], pooler_output=pooled)


class NewModel(Encoder):
    embedding_norm, layers = "embeddings.LayerNorm", "layer"

    def layer(self, number, norm):
        d, f = self.config.hidden_size, self.config.intermediate_size
        return {"attention.qkv_proj": nn.Linear(d, 3 * d), "attention.o_proj": nn.Linear(d, d), "attn_ln": norm(),
                "mlp.up_gate_proj": nn.Linear(d, 2 * f, bias=False), "mlp.down_proj": nn.Linear(f, d),
                "mlp_ln": norm()}

    def run(self, layer, x, number):
        c, width = self.config, self.config.hidden_size // self.config.num_attention_heads
        theta, factor = c.rope_parameters["rope_theta"], c.rope_parameters["factor"]
        frequencies = (theta * factor) ** (-torch.arange(0, width, 2) / width) / factor ** (2 / width)
        q, k, v = layer.at("attention.qkv_proj")(x).chunk(3, -1)
        q, k = (rotated(y, c.num_attention_heads, frequencies) for y in (q, k))
        x = layer.at("attn_ln")(x + layer.at("attention.o_proj")(attend(q, k, v, c.num_attention_heads)))
        up, gate = layer.at("mlp.up_gate_proj")(x).chunk(2, -1)
        return layer.at("mlp_ln")(x + layer.at("mlp.down_proj")(up * gelu(gate)))


class Experts(nn.Module):
    """Of all experts, one below the other; w2 is multiplied from the right."""

    def __init__(self, experts, f, d):
        super().__init__()
        self.experts = experts
        self.w1 = nn.Parameter(torch.empty(experts * f, d))
        self.w2 = nn.Parameter(torch.empty(experts * f, d))

    def forward(self, x, expert):
        return gelu(x @ self.w1.chunk(self.experts)[expert].T) @ self.w2.chunk(self.experts)[expert]


class Mixture(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.top = c.moe_top_k
        self.router = Names()
        self.router.put("layer", nn.Linear(c.n_embd, c.num_experts, bias=False))
        self.experts = Names()
        self.experts.put("mlp", Experts(c.num_experts, c.n_inner, c.n_embd))
        self.experts.bias = nn.Parameter(torch.empty(c.n_embd))

    def forward(self, x):
        weights, chosen = softmax(self.router.layer(x), -1).topk(self.top)
        rows = [sum(w * self.experts.mlp(row, e) for w, e in zip(ws, es.tolist()))
                for row, ws, es in zip(x, weights, chosen)]
        return torch.stack(rows) + self.experts.bias


class NomicBertModel(Encoder):
    embedding_norm, layers = "emb_ln", "layers"

    def layer(self, number, norm):
        d, f = self.config.n_embd, self.config.n_inner
        parts = {"attn.Wqkv": nn.Linear(d, 3 * d), "attn.out_proj": nn.Linear(d, d), "norm1": norm(),
                 "norm2": norm()}
        if number % self.config.moe_every_n_layers == 1:
            return parts | {"mlp": Mixture(self.config)}
        return parts | {"mlp.fc1": nn.Linear(d, f), "mlp.fc2": nn.Linear(f, d)}

    def run(self, layer, x, number):
        c, width = self.config, self.config.n_embd // self.config.n_head
        frequencies = c.rotary_emb_base ** (-torch.arange(0, width, 2) / width)
        q, k, v = layer.at("attn.Wqkv")(x).chunk(3, -1)
        q, k = (rotated(y, c.n_head, frequencies) for y in (q, k))
        x = layer.at("norm1")(x + layer.at("attn.out_proj")(attend(q, k, v, c.n_head)))
        mlp = layer.at("mlp")
        y = mlp(x) if isinstance(mlp, Mixture) else mlp.fc2(gelu(mlp.fc1(x)))
        return layer.at("norm2")(x + y)


class JinaBertModel(Encoder):
    embedding_norm, layers = "embeddings.LayerNorm", "layer"

    def layer(self, number, norm):
        d, f = self.config.hidden_size, self.config.intermediate_size
        return {f"attention.self.{name}": nn.Linear(d, d) for name in ("query", "key", "value")} | {
            "attention.output.dense": nn.Linear(d, d), "attention.output.LayerNorm": norm(),
            "mlp.gated_layers": nn.Linear(d, 2 * f, bias=False), "mlp.wo": nn.Linear(f, d), "mlp.layernorm": norm()}

    def more(self, norm):
        return {"pooler.dense": nn.Linear(self.config.hidden_size, self.config.hidden_size)}

    def run(self, layer, x, number):
        heads = self.config.num_attention_heads
        power = 2 ** int(math.log2(heads))
        slopes = [2 ** (-8 * k / power) for k in range(1, power + 1)] + [
            2 ** (-8 * k / (2 * power)) for k in range(1, 2 * (heads - power), 2)]
        places = torch.arange(len(x))
        bias = -torch.tensor(slopes)[:, None, None] * (places[:, None] - places).abs()
        q, k, v = (layer.at(f"attention.self.{name}")(x) for name in ("query", "key", "value"))
        x = layer.at("attention.output.LayerNorm")(
            x + layer.at("attention.output.dense")(attend(q, k, v, heads, bias)))
        gate, up = layer.at("mlp.gated_layers")(x).chunk(2, -1)
        return layer.at("mlp.layernorm")(x + layer.at("mlp.wo")(gelu(gate) * up))


class JinaBertForMaskedLM(JinaBertModel):
    """With the names of BERT's head; all others begin with "bert."."""

    def __init__(self, config):
        super().__init__(config)
        bert = Names()
        for name in ("embeddings", "encoder"):
            bert.add_module(name, self._modules.pop(name))
        self.bert = bert
        d = config.hidden_size
        self.cls = Names()
        self.cls.put("predictions.transform.dense", nn.Linear(d, d))
        self.cls.put("predictions.transform.LayerNorm", nn.LayerNorm(d, eps=config.layer_norm_eps))
        self.cls.predictions.bias = nn.Parameter(torch.empty(config.vocab_size))

    def more(self, norm):
        return {}

    def forward(self, input_ids, output_hidden_states=False):
        self.embeddings, self.encoder = self.bert.embeddings, self.bert.encoder
        x = self.states(input_ids[0], None)
        del self.embeddings, self.encoder
        y = self.cls.at("predictions.transform.LayerNorm")(gelu(self.cls.at("predictions.transform.dense")(x)))
        logits = y @ self.bert.at("embeddings.word_embeddings").weight.T + self.cls.predictions.bias
        return MaskedLMOutput(logits=logits[None], hidden_states=(x[None],))
