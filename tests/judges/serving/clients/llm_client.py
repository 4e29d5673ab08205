# /// script
# dependencies = ["llm"]
# ///
import os
import pathlib
import subprocess

from scenarios import URL, run

home = pathlib.Path(os.environ["HOME"]) / "llm"
home.mkdir(exist_ok=True)
(home / "extra-openai-models.yaml").write_text(
    f"- model_id: mine\n  model_name: chat\n  api_base: {URL}/v1\n  supports_tools: true\n  supports_schema: true\n")


def ask(*arguments):
    done = subprocess.run(["llm", "-m", "mine", *arguments], capture_output=True, text=True, env=os.environ | {"LLM_USER_PATH": str(home)})
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
    return done.stdout


def chat():
    ask("Say hello.", "-o", "max_tokens", "8")


def without_a_stream():
    ask("Say hello.", "--no-stream", "-o", "max_tokens", "8")


def schema():
    assert '"age"' in ask("--schema", "age int", "A cat.", "-o", "max_tokens", "100")


run(chat, without_a_stream, schema)
