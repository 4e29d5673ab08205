"""A `heed serve` that is measured."""
import contextlib
import pathlib
import re
import socket
import subprocess
import time
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(process, port):
    """At most a minute."""
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit(f"error: the server ended: {process.stderr.read().strip() if process.stderr else ''}")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
            return
        time.sleep(0.1)
    raise SystemExit("error: the server does not answer")


class Server:
    def __init__(self, heed, models, threads, settings=None, **limits):
        """`models`: names and paths, or names and tables of serve.toml; `settings`: its other keys."""
        self.port = free_port()
        lines = [f"port = {self.port}", f"threads = {threads}"]
        lines += [f"{name} = {value!r}" for name, value in (settings or {}).items()] + ["[limits]"]
        lines += [f"{name} = {value}" for name, value in limits.items()]
        for name, table in models.items():
            table = table if isinstance(table, dict) else {"path": str(table)}
            lines += ["[[model]]", f'name = "{name}"']
            lines += [f"{key} = {value!r}".replace("True", "true") for key, value in table.items()]
        self.config = "\n".join(lines) + "\n"
        self.heed = heed

    def __enter__(self):
        self.file = pathlib.Path(f"/dev/shm/heed-serving-{self.port}.toml")
        self.file.write_text(self.config)
        self.process = subprocess.Popen([self.heed, "serve", "--quiet", "--config", self.file],
                                        stderr=subprocess.PIPE, text=True)
        wait_until_healthy(self.process, self.port)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.file.unlink()
        self.status = self.process.returncode

    def memory_mb(self):
        """Resident memory that is not a mapped file."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", text).group(1)) / 1024

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def metric(self, name):
        """The sum of the samples of a metric."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if re.match(rf"{name}(\{{.*\}})? ", line))
