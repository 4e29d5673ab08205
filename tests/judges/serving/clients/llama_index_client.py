# /// script
# dependencies = ["llama-index-llms-openai-like", "llama-index-embeddings-openai-like"]
# ///
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from scenarios import URL, run

OPTIONS = {"api_base": f"{URL}/v1", "api_key": "none"}
model = OpenAILike(model="chat", is_chat_model=True, is_function_calling_model=True, max_tokens=60, context_window=2048, **OPTIONS)
MESSAGES = [ChatMessage(role="user", content="Say hello.")]


def chat():
    assert model.chat(MESSAGES).message.content


def stream():
    assert "".join(chunk.delta or "" for chunk in model.stream_chat(MESSAGES))


def completion():
    assert OpenAILike(model="chat", max_tokens=8, **OPTIONS).complete("The sea").text


def forced_tool():
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"
    answer = model.chat_with_tools([FunctionTool.from_defaults(weather)], user_msg="Rome?", tool_required=True)
    assert model.get_tool_calls_from_response(answer, error_on_no_tool_call=True)[0].tool_name == "weather"


def embeddings():
    assert len(OpenAILikeEmbedding(model_name="embed", **OPTIONS).get_text_embedding_batch(["a", "b"])) == 2


run(chat, stream, completion, forced_tool, embeddings)
