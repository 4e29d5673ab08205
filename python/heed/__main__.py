"""python -m heed: the version, an output of a model, or the server, where there is no program `heed`."""

from __future__ import annotations

import argparse
import os
import sys

import heed


def _generate(arguments: argparse.Namespace) -> None:
    model = heed.load(arguments.model, progress=sys.stderr.isatty())
    for piece in model.generate(arguments.prompt, max_new_tokens=arguments.max_new_tokens, stream=True):
        print(piece, end="", flush=True)
    print()


def _serve(arguments: argparse.Namespace) -> None:
    models = {}
    for text in arguments.models:
        name, equals, path = text.partition("=")
        models[name if equals else os.path.basename(os.path.normpath(text))] = path if equals else text
    print(f"serving {', '.join(models)} on http://{arguments.host}:{arguments.port}", file=sys.stderr)
    heed.serve(models, host=arguments.host, port=arguments.port)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m heed", description=heed.__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=f"heed {heed.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    generate = commands.add_parser("generate", help="print what a model writes after a prompt")
    generate.add_argument("model", help="a directory, a GGUF file, or a name of the Hugging Face hub")
    generate.add_argument("prompt")
    generate.add_argument("--max-new-tokens", type=int, default=None)
    generate.set_defaults(run=_generate)
    serve = commands.add_parser("serve", help="serve models over HTTP, with a page")
    serve.add_argument("models", nargs="+", metavar="[NAME=]MODEL")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8080)
    serve.set_defaults(run=_serve)
    arguments = parser.parse_args()
    if not hasattr(arguments, "run"):
        parser.print_help()
        return 0
    try:
        arguments.run(arguments)
    except heed.Error as error:
        print(f"heed: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
