#!/usr/bin/env bash
# h1spec (https://github.com/uNetworking/h1spec), a test of HTTP/1.1 servers, against heed serve.
#
#   tests/judges/serving/h1spec.sh HEED MODEL CHECKOUT DENO
#
# MODEL is any model, CHECKOUT a checkout of h1spec, DENO the Deno that runs it (PyPI has it: pip install deno).
# Two tests need a server that echoes what is posted to /; heed has no such route, so their failures do not count.
set -euo pipefail
heed=$1 model=$2 checkout=$3 deno=$4
needs_echo='❌ (Valid POST request with body|Chunked Transfer-Encoding): Response Status Code 405,'
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$heed" serve --quiet --threads 2 --port "$port" --model "$model" &
server=$!
trap 'kill "$server"; wait "$server" || true' EXIT
until python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; do
  kill -0 "$server"
  sleep 0.2
done
results=$("$deno" run --quiet --no-check --allow-net "$checkout/http_test.ts" 127.0.0.1 "$port" 2>&1) || true
printf '%s\n' "$results"
[[ $results == *' tests passed.' ]]
failed=$(grep '❌' <<<"$results" | grep -cvE "$needs_echo" || true)
printf '%s failed that do not need an echo\n' "$failed"
((failed == 0))
