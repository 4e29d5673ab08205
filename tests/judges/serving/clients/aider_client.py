# /// script
# dependencies = ["aider-chat"]
# ///
"""aider, the program: one message each, to a model that is too small to edit anything."""
import os
import subprocess
import tempfile

from scenarios import URL, run

ARGUMENTS = ["--model", "openai/chat", "--openai-api-base", f"{URL}/v1", "--openai-api-key", "none", "--yes-always",
             "--no-git", "--no-check-update", "--no-show-model-warnings", "--no-analytics", "--no-browser",
             "--map-tokens", "0", "--no-auto-commits", "--message"]


def aider(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["aider", *arguments], cwd=folder, capture_output=True, text=True, timeout=300,
                              env=os.environ | {"HOME": folder})
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    assert "litellm." not in done.stdout, done.stdout[-500:]  # where its errors come from
    return done.stdout


def ask_with_a_stream():
    assert "Tokens:" in aider("--chat-mode", "ask", "--stream", *ARGUMENTS, "Say hello.")


def ask():
    assert "Tokens:" in aider("--chat-mode", "ask", "--no-stream", *ARGUMENTS, "Say hello.")


run(ask_with_a_stream, ask)
