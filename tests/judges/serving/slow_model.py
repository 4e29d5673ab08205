"""A model whose prefill takes a while: random weights, of which a token reads `layers` x 67 million."""
import json
import pathlib
import shutil
import sys

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tests/serve"))
from page_steps import CHAT_CONFIG, make_decoder  # noqa: E402


def make_slow_decoder(directory, layers):
    shutil.rmtree(directory, ignore_errors=True)
    make_decoder(directory)
    config = CHAT_CONFIG | {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": layers,
                            "num_attention_heads": 16, "max_position_embeddings": 1 << 16}
    (directory / "config.json").write_text(json.dumps(config))
