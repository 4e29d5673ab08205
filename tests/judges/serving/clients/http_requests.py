# /// script
# dependencies = ["httpx"]
# ///
"""Requests as programs send them that are not Python packages."""
import httpx
from scenarios import URL, run

client = httpx.Client(base_url=URL, timeout=60)


def mastodon():
    """app/lib/translation_service/libre_translate.rb: HTML, always."""
    answer = client.post("/translate", json={"q": ["<p>the sea</p>"], "source": "en", "target": "fr", "format": "html",
                                             "api_key": ""}).raise_for_status().json()
    assert answer["translatedText"][0].startswith("<p>") and answer["translatedText"][0].endswith("</p>")
    assert client.get("/languages").raise_for_status().json()


def open_webui():
    """backend/open_webui/routers/openai.py."""
    assert client.get("/v1/models").raise_for_status().json()["data"]
    with client.stream("POST", "/v1/chat/completions", json={
            "stream": True, "model": "chat", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8,
            "metadata": {"chat_id": "1"}, "stream_options": {"include_usage": True}}) as answer:
        assert answer.status_code == 200 and answer.read().endswith(b"data: [DONE]\n\n")


def preflight_of_a_browser():
    answer = client.options("/v1/chat/completions", headers={
        "Origin": "https://example.com", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-stainless-lang,x-stainless-retry-count"})
    assert answer.status_code in (204, 404, 405)  # this server allows no other origins


run(mastodon, open_webui, preflight_of_a_browser)
