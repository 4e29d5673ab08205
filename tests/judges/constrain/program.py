"""Talks to the program constrain_judge (tests/constrain/judge_main.cc)."""
import json
import subprocess
import threading
import time


class Judge:
    """One process, which is started again when it crashes or takes too long."""

    def __init__(self, command, seconds=20):
        self.command = [command] if isinstance(command, str) else command
        self.seconds, self.process = seconds, None

    def schema(self, schema, texts, **options):
        """The answer for a JSON Schema, which is given as text."""
        return self.ask(kind="json_schema", source=schema, texts=texts, **options)

    def ask(self, **request):
        """The answer, or {"crash": why} with the time that it took."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
        process, start = self.process, time.monotonic()
        timer = threading.Timer(self.seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        self.process = None
        return {"crash": f"exit status {process.wait()} after {time.monotonic() - start:.1f} s"}


def quantiles(values):
    """Median, 99th percentile and maximum."""
    values = sorted(values) or [0.0]
    return [values[int(q * (len(values) - 1))] for q in (0.5, 0.99, 1)]
