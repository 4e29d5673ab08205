# /// script
# dependencies = ["dspy", "numpy"]
# ///
import dspy
from scenarios import URL, run

model = dspy.LM("openai/chat", api_base=f"{URL}/v1", api_key="none", max_tokens=200, cache=False)


def chat():
    assert model("Say hello.")


def predict():
    with dspy.context(lm=model):
        assert isinstance(dspy.Predict("question -> answer")(question="Is the sea wet?").answer, str)


def embeddings():
    assert len(dspy.Embedder("openai/embed", api_base=f"{URL}/v1", api_key="none", caching=False)(["a", "b"])) == 2


run(chat, predict, embeddings)
