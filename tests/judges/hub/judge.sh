#!/usr/bin/env bash
# Python's huggingface_hub finds what heed downloads and heed finds what huggingface_hub downloads,
# both from the server of tests/hub.
#
#   tests/judges/hub/judge.sh HEED [PYTHON]
#
# PYTHON has the package huggingface_hub (pip install huggingface_hub); by default a virtual
# environment is made in build/judges/hub.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
heed=$(realpath "$1")
python=${2:-build/judges/hub/bin/python}
if [[ ! -x $python ]]; then
  python3 -m venv build/judges/hub
  "$python" -m pip install --quiet huggingface_hub
fi
exec "$python" tests/judges/hub/judge.py "$heed"
