"""Writes losses.json: losses of vectors and scores and their gradients as sentence-transformers 6.2 computes them.

Each loss is applied to given vectors in place of a model's: of texts, sparse ones of texts, vectors of tokens
(multi-vector), or to the scores of a cross-encoder. Needs sentence-transformers and PyTorch.
"""

import json
import pathlib

import torch
from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.cross_encoder import losses as cross_encoder
from sentence_transformers.multi_vector_encoder import losses as multi_vector
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sparse_encoder import losses as sparse

torch.manual_seed(3)
EXAMPLES, WIDTH, TOKENS = 5, 8, 4


class Vectors(SentenceTransformer):
    """A model whose vectors of a column of texts are given."""

    def __init__(self):
        super().__init__(modules=[torch.nn.Identity()])

    def forward(self, features, **_):
        return {"sentence_embedding": features["vectors"]}


class SparseVectors(SparseEncoder):
    def __init__(self):
        torch.nn.Module.__init__(self)

    forward = Vectors.forward


class TokenVectors(MultiVectorEncoder):
    def __init__(self):
        torch.nn.Module.__init__(self)

    def forward(self, features, **_):
        vectors = torch.nn.functional.normalize(features["vectors"], dim=-1)
        return {"token_embeddings": vectors, "attention_mask": features["mask"]}


class Scores(CrossEncoder):
    """A cross-encoder whose pairs are their scores."""

    num_labels, device = 1, "cpu"

    def __init__(self):
        torch.nn.Module.__init__(self)

    def preprocess(self, pairs, **_):
        return {"scores": torch.stack([score for _, score in pairs])}

    def forward(self, features, **_):
        return features


def numbers(x):
    return [] if x is None else x.flatten().tolist()


def by_example(x):
    """[columns, examples, ...], the columns of an example one after the other."""
    return numbers(x.detach().transpose(0, 1).contiguous())


def record(name, make, columns, scores=None, dims=None, weights=None, **options):
    """`columns` vectors for each example, and perhaps scores."""
    vectors = torch.randn(columns, EXAMPLES, WIDTH, requires_grad=True)
    model = Vectors()
    loss = make(model)
    if dims:
        loss = losses.MatryoshkaLoss(model, loss, dims, weights)
    value = loss([{"vectors": column} for column in vectors], scores)
    value.backward()
    return {"loss": name, "columns": columns, "scores": numbers(scores), "dims": dims or [], "weights": weights or [],
            "vectors": by_example(vectors), "value": value.item(), "gradient": by_example(vectors.grad), **options}


def record_sparse(name, make, columns, scores=None, **options):
    given = torch.randn(columns, EXAMPLES, WIDTH).relu().requires_grad_()
    model = SparseVectors()
    loss = sparse.SpladeLoss(model, make(model), options["document_flops"], options["query_flops"])
    value = sum(loss([{"vectors": column} for column in given], scores).values())
    value.backward()
    return {"kind": "sparse", "loss": name, "columns": columns, "scores": numbers(scores), "dims": [], "weights": [],
            "vectors": by_example(given), "value": value.item(), "gradient": by_example(given.grad), **options}


def record_tokens(name, make, columns, scores=None, **options):
    """Texts of one to TOKENS vectors, which are normalised."""
    vectors = torch.randn(columns, EXAMPLES, TOKENS, WIDTH, requires_grad=True)
    lengths = torch.randint(1, TOKENS + 1, (columns, EXAMPLES))
    mask = torch.arange(TOKENS) < lengths[..., None]
    value = make(TokenVectors())([{"vectors": v, "mask": m} for v, m in zip(vectors, mask)], scores)
    value.backward()
    kept = mask.transpose(0, 1)
    present = lambda x: numbers(x.detach().transpose(0, 1)[kept])
    return {"kind": "multi-vector", "loss": name, "columns": columns, "scores": numbers(scores), "dims": [],
            "weights": [], "lengths": by_example(lengths), "vectors": present(vectors), "value": value.item(),
            "gradient": present(vectors.grad), **options}


def record_scores(negatives):
    """Of a cross-encoder: the scores of the document and the negatives of each query."""
    scores = torch.randn(negatives + 1, EXAMPLES, requires_grad=True)
    margins = torch.randn(EXAMPLES, negatives)
    columns = [[0] * EXAMPLES] + [list(column) for column in scores]
    value = cross_encoder.MarginMSELoss(Scores())(columns, margins)
    value.backward()
    return {"logits": by_example(scores), "margins": numbers(margins), "value": value.item(),
            "gradient": by_example(scores.grad)}


def main():
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
            m, distance_metric=losses.TripletDistanceMetric.COSINE, triplet_margin=0.3), 3, margin=0.3,
            distance="cosine"),
        record("margin-mse", losses.MarginMSELoss, 3, ones),
        record("margin-mse", losses.MarginMSELoss, 4, torch.randn(EXAMPLES, 2)),
        record("distill", losses.MSELoss, 1, torch.randn(EXAMPLES, WIDTH)),
        record("kl-divergence", losses.DistillKLDivLoss, 3, torch.randn(EXAMPLES, 2)),
        record("kl-divergence", lambda m: losses.DistillKLDivLoss(m, temperature=2.0, teacher_temperature=4.0), 4,
               5 * torch.randn(EXAMPLES, 3), temperature=2.0, teacher_temperature=4.0),
        record_sparse("infonce", sparse.SparseMultipleNegativesRankingLoss, 2, scale=1.0, query_flops=0.05,
                      document_flops=0.03),
        record_sparse("infonce", lambda m: sparse.SparseMultipleNegativesRankingLoss(m, scale=0.5), 4, scale=0.5,
                      query_flops=0.2, document_flops=0.1),
        record_sparse("margin-mse", sparse.SparseMarginMSELoss, 3, ones, query_flops=0.05, document_flops=0.03),
        record_sparse("kl-divergence", sparse.SparseDistillKLDivLoss, 3, torch.randn(EXAMPLES, 2), temperature=2.0,
                      teacher_temperature=2.0, query_flops=0.05, document_flops=0.03),
        record_tokens("infonce", multi_vector.MultiVectorMultipleNegativesRankingLoss, 2, scale=1.0),
        record_tokens("infonce", lambda m: multi_vector.MultiVectorMultipleNegativesRankingLoss(m, scale=5.0), 4,
                      scale=5.0),
        record_tokens("margin-mse", multi_vector.MultiVectorMarginMSELoss, 4, torch.randn(EXAMPLES, 2)),
        record_tokens("kl-divergence", multi_vector.MultiVectorDistillKLDivLoss, 4, torch.randn(EXAMPLES, 3)),
    ]
    path = pathlib.Path(__file__).with_name("losses.json")
    path.write_text(json.dumps({"examples": EXAMPLES, "width": WIDTH, "losses": golden,
                                "cross_encoder": [record_scores(1), record_scores(3)]}) + "\n")


if __name__ == "__main__":
    main()
