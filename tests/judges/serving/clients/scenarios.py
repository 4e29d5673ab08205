"""What the scripts of clients share: the server, and the loop over scenarios."""
import asyncio
import inspect
import os
import sys
import traceback

URL = os.environ["HEED_URL"]
MESSAGES = [{"role": "user", "content": "Say hello."}]
WEATHER = {"type": "function", "function": {
    "name": "weather", "description": "The weather of a city", "strict": True,
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}}, "required": ["city"],
                   "additionalProperties": False}}}


def run(*scenarios):
    """Runs each and says how it ended."""
    failed = False
    for scenario in scenarios:
        name = scenario.__name__.replace("_", " ")
        try:
            result = scenario()
            if inspect.isawaitable(result):
                asyncio.run(result)
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed = True
            traceback.print_exc()
            print(f"failed {name}: {' '.join(str(error).split())[:200] or type(error).__name__}", flush=True)
    sys.exit(failed)
