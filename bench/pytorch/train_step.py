"""The same training step as bench/train_step.cc in PyTorch, tuned: fused attention, fused Adam.

    train_step.py small|base|llama f32|bf16 [steps] [eager|compiled]
"""
import sys

import torch
from torch import nn
from torch.nn import functional as F

from measure import ids_of, loss_of, measure

VOCABULARY, LENGTH = 4000, 32
LLAMA = dict(vocabulary=49152, d=576, heads=9, kv_heads=3, ff=1536, layers=30, length=128,
             sentences=8)
SHAPES = {"small": dict(d=256, heads=4, ff=1024, layers=3, sentences=64),
          "base": dict(d=512, heads=8, ff=2048, layers=6, sentences=32)}


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, memory, causal):
        def split(y):
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)
        out = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(memory)),
                                             split(self.v(memory)), is_causal=causal)
        return self.o(out.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, d, heads, ff, decoder):
        super().__init__()
        self.self_attn, self.norm1 = Attention(d, heads), nn.LayerNorm(d)
        self.cross = Attention(d, heads) if decoder else None
        self.norm2 = nn.LayerNorm(d) if decoder else None
        self.fc1, self.fc2, self.norm3 = nn.Linear(d, ff), nn.Linear(ff, d), nn.LayerNorm(d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, memory=None):
        x = self.norm1(x + self.drop(self.self_attn(x, x, self.cross is not None)))
        if self.cross is not None:
            x = self.norm2(x + self.drop(self.cross(x, memory, False)))
        return self.norm3(x + self.drop(self.fc2(F.relu(self.fc1(x)))))


class Transformer(nn.Module):
    def __init__(self, d, heads, ff, layers, sentences):
        super().__init__()
        self.scale = d ** 0.5
        self.embedding = nn.Embedding(VOCABULARY, d)
        nn.init.normal_(self.embedding.weight, std=d ** -0.5)
        self.register_buffer("positions", torch.randn(LENGTH, d))
        self.encoder = nn.ModuleList(Layer(d, heads, ff, False) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(d, heads, ff, True) for _ in range(layers))
        self.drop = nn.Dropout(0.1)

    def embed(self, ids):
        return self.drop(self.embedding(ids) * self.scale + self.positions)

    def forward(self, source, target):
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, memory)
        return F.linear(x, self.embedding.weight)


class LlamaLayer(nn.Module):
    def __init__(self, d, heads, kv_heads, ff):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        width = d // heads
        self.q, self.o = (nn.Linear(d, d, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(d, width * kv_heads, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(d, ff, bias=False) for _ in range(2))
        self.down = nn.Linear(ff, d, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(d, eps=1e-5), nn.RMSNorm(d, eps=1e-5)

    def forward(self, x, cos, sin):
        def split(y, heads):
            return y.view(y.shape[0], y.shape[1], heads, -1).transpose(1, 2)

        def rotate(y):
            first, second = y.chunk(2, dim=-1)
            return (y * cos + torch.cat((-second, first), dim=-1) * sin).to(y.dtype)
        y = self.norm1(x)
        out = F.scaled_dot_product_attention(
            rotate(split(self.q(y), self.heads)), rotate(split(self.k(y), self.kv_heads)),
            split(self.v(y), self.kv_heads), is_causal=True, enable_gqa=True)
        x = x + self.o(out.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, vocabulary, d, heads, kv_heads, ff, layers, length, sentences):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d)
        nn.init.normal_(self.embedding.weight, std=d ** -0.5)
        self.layers = nn.ModuleList(LlamaLayer(d, heads, kv_heads, ff) for _ in range(layers))
        self.norm = nn.RMSNorm(d, eps=1e-5)
        half = d // heads // 2
        angles = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))

    def forward(self, _, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.linear(self.norm(x), self.embedding.weight)


def main():
    llama = sys.argv[1] == "llama"
    shape = LLAMA if llama else SHAPES[sys.argv[1]]
    bf16 = sys.argv[2] == "bf16"
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    torch.manual_seed(1)
    model = Llama(**shape) if llama else Transformer(**shape)
    if sys.argv[4:] == ["compiled"]:
        model = torch.compile(model)

    def loss(ids):
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            return loss_of(model(ids, ids), ids)
    ids = ids_of(shape["sentences"], shape.get("length", LENGTH))
    measure(loss, model.parameters(), ids, steps)


if __name__ == "__main__":
    main()
