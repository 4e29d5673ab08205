"""Writes losses.json: losses of vectors and their gradients as sentence-transformers 6.2 computes them.

Each loss is applied to given vectors in place of a model's. Needs sentence-transformers and PyTorch.
"""

import json
import pathlib

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses

torch.manual_seed(3)
EXAMPLES, WIDTH = 5, 8


class Vectors(SentenceTransformer):
    """A model whose vectors of a column of texts are given."""

    def __init__(self):
        super().__init__(modules=[torch.nn.Identity()])

    def forward(self, features, **_):
        return {"sentence_embedding": features["vectors"]}


def record(name, make, columns, scores=None, dims=None, weights=None, **options):
    """`columns` vectors for each example, and perhaps scores."""
    vectors = torch.randn(columns, EXAMPLES, WIDTH, requires_grad=True)
    model = Vectors()
    loss = make(model)
    if dims:
        loss = losses.MatryoshkaLoss(model, loss, dims, weights)
    value = loss([{"vectors": column} for column in vectors], scores)
    value.backward()
    by_example = lambda x: x.detach().transpose(0, 1).reshape(-1, WIDTH).flatten().tolist()  # [E columns, D]
    return {"loss": name, "columns": columns, "scores": [] if scores is None else scores.flatten().tolist(),
            "dims": dims or [], "weights": weights or [], "vectors": by_example(vectors), "value": value.item(),
            "gradient": by_example(vectors.grad), **options}


ones = torch.rand(EXAMPLES)
golden = [
    record("infonce", losses.MultipleNegativesRankingLoss, 2, scale=20.0),
    record("infonce", lambda m: losses.MultipleNegativesRankingLoss(m, scale=7.0), 4, scale=7.0),
    record("infonce", losses.MultipleNegativesRankingLoss, 2, dims=[8, 4], weights=[1, 0.5], scale=20.0),
    record("cosine", losses.CosineSimilarityLoss, 2, ones),
    record("cosine", losses.CosineSimilarityLoss, 2, ones, dims=[8, 3]),
    record("cosent", losses.CoSENTLoss, 2, ones, scale=20.0),
    record("triplet", lambda m: losses.TripletLoss(m, triplet_margin=1.5), 3, margin=1.5, distance="euclidean"),
    record("triplet", lambda m: losses.TripletLoss(
        m, distance_metric=losses.TripletDistanceMetric.COSINE, triplet_margin=0.3), 3, margin=0.3, distance="cosine"),
    record("margin-mse", losses.MarginMSELoss, 3, ones),
    record("margin-mse", losses.MarginMSELoss, 4, torch.randn(EXAMPLES, 2)),
    record("distill", losses.MSELoss, 1, torch.randn(EXAMPLES, WIDTH)),
]
path = pathlib.Path(__file__).with_name("losses.json")
path.write_text(json.dumps({"examples": EXAMPLES, "width": WIDTH, "losses": golden}) + "\n")
