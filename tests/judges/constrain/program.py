"""Talks to the program tests/constrain/judge."""
import json
import subprocess
import threading


class Judge:
    """One process, which is started again when it crashes or takes too long."""

    def __init__(self, path, seconds=20):
        self.path, self.seconds, self.process = path, seconds, None

    def ask(self, **request):
        """The answer, or {"crash": why}."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
        process = self.process
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
        return {"crash": f"exit status {process.wait()}"}


def quantiles(values):
    """Median, 99th percentile and maximum."""
    values = sorted(values) or [0.0]
    return [values[int(q * (len(values) - 1))] for q in (0.5, 0.99, 1)]
