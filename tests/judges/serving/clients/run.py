#!/usr/bin/env python3
"""Real clients against heed serve, each in a virtual environment of its own: a table of what works.

    tests/judges/serving/clients/run.py HEED CHAT_MODEL WORK [CLIENT ...]

Each client is a file beside this one, whose first lines say what to install (PEP 723) and whose functions are the
scenarios. CHAT_MODEL is a small instruction-tuned model, such as SmolLM2-135M-Instruct; the embedder, the reranker and
the translator are those of tests/golden. The environments are made in the folder WORK, and stay there.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[3]
sys.path.insert(0, str(SOURCE / "bench"))
from load.server import Server  # noqa: E402

SECONDS = 600  # for a client


def requirements(script):
    metadata = re.search(r"(?ms)^# /// script\n(.*?)^# ///$", script.read_text())
    return tomllib.loads(re.sub(r"(?m)^# ?", "", metadata.group(1)))["dependencies"]


def environment(script, work):
    """The Python of the client's environment, which is made if it is not there."""
    folder = work / script.stem
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements(script)], check=True)
    return python


def version(python, requirement):
    name = re.match(r"[\w.-]+", requirement).group()
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return f"{name} {subprocess.run([python, '-c', code], capture_output=True, text=True, check=True).stdout.strip()}"


def judge(script, python, port):
    """The lines that the scenarios print: 'ok NAME' or 'failed NAME: WHY'."""
    own = {"HEED_URL": f"http://127.0.0.1:{port}", "OPENAI_API_KEY": "none", "PYTHONPATH": str(HERE),
           "HOME": str(python.parents[1]), "PATH": f"{python.parent}:{os.environ['PATH']}",
           "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    try:
        done = subprocess.run([python, script], capture_output=True, text=True, env=os.environ | own, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"failed {script.stem}: {SECONDS} s are over"]
    sys.stderr.write(done.stderr if done.returncode else "")
    lines = [line for line in done.stdout.splitlines() if re.match(r"(ok|failed) ", line)]
    return lines or [f"failed {script.stem}: {(done.stderr.strip() or 'no output').splitlines()[-1]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", type=pathlib.Path)
    parser.add_argument("chat_model", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("clients", nargs="*")
    arguments = parser.parse_args()
    scripts = {one.stem: one for one in sorted(HERE.glob("*.py")) if "# /// script" in one.read_text()}
    unknown = set(arguments.clients) - set(scripts)
    if unknown:
        parser.error(f"there is no client {', '.join(sorted(unknown))}")
    golden = SOURCE / "tests/golden"
    models = {"chat": arguments.chat_model.resolve(), "embed": golden / "encoders/embed-bert", "rerank": golden / "encoders/rerank",
              "en-fr": {"path": str(golden / "translation/opus-mt"), "source_language": "en", "target_language": "fr"}}
    failed = 0
    with Server(arguments.heed.resolve(), models, threads=2) as server:
        print("| client | works | does not |\n| --- | --- | --- |")
        for name in arguments.clients or scripts:
            python = environment(scripts[name], arguments.work.resolve())
            lines = judge(scripts[name], python, server.port)
            works = [line[3:] for line in lines if line.startswith("ok ")]
            fails = [line[7:] for line in lines if line.startswith("failed ")]
            failed += len(fails)
            client = version(python, requirements(scripts[name])[0])
            print(f"| {client} | {', '.join(works)} | {'; '.join(fails)} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
