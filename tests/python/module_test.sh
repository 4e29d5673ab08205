#!/usr/bin/env bash
# The Python module: builds it against the libraries of a build, as pip does, and runs its tests. Ends with 77
# where nanobind, pytest and the others cannot be had.
#
#   module_test.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)/python
libraries=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
pip=("$build/venv/bin/python" -m pip --timeout 15 --retries 1 --disable-pip-version-check)

if [[ ! -e $build/complete ]]; then
  rm -rf "$build/venv"
  if ! { python3 -m venv "$build/venv" && "${pip[@]}" install -q scikit-build-core nanobind numpy pytest pytest-timeout \
    hypothesis mypy typing-extensions tqdm scikit-learn gunicorn pydantic; } >"$build.log" 2>&1; then
    echo "skipped: a virtual environment with nanobind and pytest cannot be made:" && tail -n 3 "$build.log"
    exit 77
  fi
  touch "$build/complete"
fi
"${pip[@]}" install -q --no-build-isolation --no-deps --force-reinstall ./python \
  -C build-dir="$build/extension" -C cmake.define.HEED_BUILD_TREE="$libraries"
export HEED_SIMULATED_DRIVER=$libraries/tests/simulated_kernels.so
exec "$build/venv/bin/python" -m pytest -q -c python/pyproject.toml --rootdir . --timeout 120 tests/python
