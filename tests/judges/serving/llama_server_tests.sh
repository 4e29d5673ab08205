#!/usr/bin/env bash
# llama.cpp's own server tests against heed serve: those of routes that heed has. Prints each skipped
# test with its reason, which llama_server_skipped.txt has, and their counts.
#
#   tests/judges/serving/llama_server_tests.sh HEED CHAT_MODEL EMBEDDING_MODEL RERANKER PYTHON [FOLDER]
#
# RERANKER is a cross-encoder with a context of 256 tokens or more; its scores do not matter.
# PYTHON has pytest, pytest-xdist, openai, requests, wget, filelock and prometheus-client. The source package is
# fetched into FOLDER (by default a temporary one), unless it lies there. PORT (8080) is the server's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
HEED=$(realpath "$1") CHAT_MODEL=$(realpath "$2") EMBEDDING_MODEL=$(realpath "$3") RERANKER=$(realpath "$4")
python=$(realpath -s "$5")
export HEED CHAT_MODEL EMBEDDING_MODEL RERANKER PORT=${PORT:-8080} DEBUG_EXTERNAL=1
folder=${6:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"
package=llama_cpp_python-0.3.36
if [[ ! -d $package ]]; then
  "$python" -m pip download --quiet --no-binary :all: --no-deps "${package/-/==}"
  tar xzf "$package.tar.gz"
fi
cd "$package/vendor/llama.cpp/tools/server/tests"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here "$python" -m pytest -p llama_server_plugin \
  -p no:cacheprovider -q -n 0 --tb=short -rf unit "${@:7}"
