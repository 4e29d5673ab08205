#!/usr/bin/env bash
# openai-python's own tests of chat completions, completions, embeddings and models against heed
# serve. Prints each failing test with heed's answer; docs/serving.md says why they fail.
#
#   tests/judges/serving/openai_tests.sh HEED CHAT_MODEL EMBEDDING_MODEL PYTHON [FOLDER]
#
# PYTHON has openai, pytest, pytest-asyncio, pytest-xdist, respx, dirty-equals, httpx-aiohttp and what else
# the tests import. The source package is fetched into FOLDER (by default a temporary one). The tests
# name the models themselves, so CHAT_MODEL is served under their names.
set -euo pipefail
heed=$(realpath "$1") chat=$(realpath "$2") embed=$(realpath "$3") python=$4
folder=${5:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"
if ! compgen -G "openai-*/tests" >/dev/null; then
  "$python" -m pip download --quiet --no-binary openai --no-deps openai
  tar xzf openai-*.tar.gz
fi
cd openai-*/
tests=(tests/api_resources/test_completions.py tests/api_resources/test_models.py
       tests/api_resources/chat/test_completions.py tests/api_resources/test_embeddings.py)
models=()
names=$(grep -hoE 'model="[^"]+"' "${tests[@]}" | sort -u | cut -d'"' -f2)
for name in $names; do
  if grep -qF "model=\"$name\"" tests/api_resources/test_embeddings.py; then
    models+=(--model "$name=$embed")
  else
    models+=(--model "$name=$chat")
  fi
done
port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$heed" serve --quiet --threads 2 --port "$port" "${models[@]}" &
server=$!
trap 'kill "$server"; wait "$server" || true' EXIT
until "$python" -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health')" \
    2>/dev/null; do
  kill -0 "$server"
  sleep 0.2
done
TEST_API_BASE_URL="http://127.0.0.1:$port/v1" "$python" -m pytest -p no:cacheprovider -q -n 0 \
  --tb=line -rfEs "${tests[@]}"
