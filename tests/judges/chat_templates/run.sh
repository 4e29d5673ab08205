#!/usr/bin/env bash
# Compares chat templates with jinja2 (tests/judges/README.md).
#
#   run.sh [FOLDER [COUNT]]    a folder of templates, else those of PyPI packages; random programs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
repository=../../..
count=${2:-100000}

cmake -S "$repository" --preset release >/dev/null
cmake --build "$repository/build/release" --target render_chat_template
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet jinja2 transformers
folder=${1:-}
if [[ -z $folder ]]; then
  folder=$work/templates
  "$work/python/bin/python" collect.py "$folder"
fi
program=$repository/build/release/tests/render_chat_template
failed=0
"$work/python/bin/python" published.py "$program" "$folder" || failed=1
"$work/python/bin/python" -W ignore generated.py "$program" --count "$count" || failed=1
exit $failed
