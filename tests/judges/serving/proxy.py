#!/usr/bin/env python3
"""Streams through nginx, which gives up when it reads nothing for less time than a prefill takes.

    tests/judges/serving/proxy.py HEED

Needs Debian's nginx-light. The first token comes after about a minute; comments come every 15 seconds. A proxy that
waits for 20 seconds passes the whole stream on, which begins at once; one that waits for 5 cuts it, so that this judge
can fail.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

from slow_model import TREE, make_slow_decoder

sys.path.insert(0, str(TREE / "bench"))
from load.server import Server, free_port  # noqa: E402

PREFILL_SECONDS = 50
NGINX = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
  server {{ listen 127.0.0.1:{patient}; location / {{ proxy_pass http://127.0.0.1:{heed}; proxy_read_timeout 20s; }} }}
  server {{ listen 127.0.0.1:{hasty}; location / {{ proxy_pass http://127.0.0.1:{heed}; proxy_read_timeout 5s; }} }}
}}
"""


def stream(port, words, salt):
    """(seconds to the head, seconds to the first token, comments, text or None if it was cut). `salt` makes the beginning
    of the prompt another, so that its keys and values are not there yet."""
    body = {"model": "slow", "prompt": salt + " a b c" * (words // 3), "max_tokens": 8, "stream": True, "temperature": 0}
    begin, first, comments, text = time.monotonic(), None, 0, ""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(), 300) as answer:
        head = time.monotonic() - begin
        try:
            for line in answer:
                comments += line.startswith(b":")
                if line == b"data: [DONE]\n":
                    return head, first, comments, text
                if line.startswith(b"data: "):
                    first = first or time.monotonic() - begin
                    text += json.loads(line[6:])["choices"][0]["text"]
        except OSError:
            pass
    return head, first, comments, None


def main():
    heed = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_slow_decoder(folder / "slow", layers=4)
        patient, hasty = free_port(), free_port()
        models = {"slow": {"path": str(folder / "slow"), "random_weights": 1}}
        with Server(heed, models, 2, request_seconds=600) as server:
            config = folder / "nginx.conf"
            config.write_text(NGINX.format(folder=folder, heed=server.port, patient=patient, hasty=hasty))
            nginx = subprocess.Popen(["nginx", "-p", folder, "-c", config], stderr=subprocess.DEVNULL)
            try:
                stream(server.port, 60, "d")  # the first request is slower
                _, seconds, _, _ = stream(server.port, 600, "e")
                words = int(min(20000, 600 * PREFILL_SECONDS / seconds))
                head, first, comments, text = stream(patient, words, "f")
                print(f"{words} words through a proxy that waits for 20 s: head after {head:.1f} s, first token after "
                      f"{first or 0:.1f} s, {comments} comments")
                assert head < 5 and first > 22 and comments >= 1, "the prefill was too short to tell"
                assert text is not None, "the stream was cut"
                _, _, _, cut = stream(hasty, words, "g")
                assert cut is None, "a proxy that waits for 5 s has not cut it"
                print("a proxy that waits for 5 s cuts it")
                assert text == stream(server.port, words, "f")[3]
                print("the text is that without a proxy")
            finally:
                nginx.terminate()
                nginx.wait()


if __name__ == "__main__":
    main()
