# /// script
# dependencies = ["semantic-kernel"]
# ///
from openai import AsyncOpenAI
from scenarios import URL, run
from semantic_kernel.connectors.ai.open_ai import (OpenAIChatCompletion, OpenAIChatPromptExecutionSettings,
                                                   OpenAITextEmbedding)
from semantic_kernel.contents import ChatHistory

SETTINGS = OpenAIChatPromptExecutionSettings(max_tokens=20)


def client():
    return AsyncOpenAI(base_url=f"{URL}/v1", api_key="none")


def history():
    own = ChatHistory(system_message="Be brief.")
    own.add_user_message("Say hello.")
    return own


async def chat():
    service = OpenAIChatCompletion(ai_model_id="chat", async_client=client())
    assert str(await service.get_chat_message_content(history(), SETTINGS))


async def stream():
    service = OpenAIChatCompletion(ai_model_id="chat", async_client=client())
    assert "".join([str(part) async for part in service.get_streaming_chat_message_content(history(), SETTINGS)])


async def embeddings():
    assert len(await OpenAITextEmbedding(ai_model_id="embed", async_client=client()).generate_embeddings(["a", "b"])) == 2


run(chat, stream, embeddings)
