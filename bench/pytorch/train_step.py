"""The same training step as bench/train_step.cc in PyTorch, tuned: fused attention, fused Adam.

    train_step.py small|base f32|bf16 [steps]
"""
import json
import resource
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, LENGTH, WARM_UP = 4000, 32, 3
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


def main():
    shape = SHAPES[sys.argv[1]]
    bf16 = sys.argv[2] == "bf16"
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    torch.manual_seed(1)
    model = Transformer(**shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9,
                                 fused=True)
    ids = torch.tensor([[(s * 31 + i * 17) % VOCABULARY for i in range(LENGTH)]
                        for s in range(shape["sentences"])])
    seconds = []
    for step in range(steps + WARM_UP):
        begin = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = model(ids, ids)
            loss = F.cross_entropy(logits.view(-1, VOCABULARY), ids.view(-1), label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"tokens_per_second": ids.numel() / statistics.median(seconds),
                      "peak_mb": peak, "version": torch.__version__}))


main()
