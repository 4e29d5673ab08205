# /// script
# dependencies = ["dspy", "numpy"]
# ///
import dspy
from scenarios import URL, run

model = dspy.LM("openai/chat", api_base=f"{URL}/v1", api_key="none", max_tokens=200, cache=False)


def chat():
    assert model("Say hello.")


def predict():
    # Given, since dspy sends a schema only to models of its own list.
    schema = {"type": "object", "properties": {"answer": {"type": "string", "maxLength": 80}}, "required": ["answer"],
              "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    with dspy.context(lm=model, adapter=dspy.JSONAdapter()):
        predicted = dspy.Predict("question -> answer", response_format=form)(question="Is the sea wet?")
    assert isinstance(predicted.answer, str)


def embeddings():
    assert len(dspy.Embedder("openai/embed", api_base=f"{URL}/v1", api_key="none", caching=False)(["a", "b"])) == 2


run(chat, predict, embeddings)
