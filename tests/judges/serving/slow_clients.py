#!/usr/bin/env python3
"""slowhttptest (a Debian package): a thousand slow connections of each kind while others are served.

    tests/judges/serving/slow_clients.py HEED CHAT_MODEL [CONNECTIONS [ROUNDS]]

For each kind of attack ROUNDS (default: 6) quiet periods alternate with attacks. In both, one process streams
completions and counts their tokens, and another asks for /health on a new connection every 25 ms. Wanted: the 99th
percentile of /health under attack at most 50 ms, and at most 5% fewer tokens per second (median over the rounds). On
few processors the attacker and the probe take a share of what the server computes with; tokens per second of the
server's CPU time and the attacker's share are printed too.
"""
import json
import multiprocessing
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

STREAMS = 4
QUIET_SECONDS = 6
ATTACK_SECONDS = 6  # after the time it takes to connect
RATE = 250  # connections per second
KINDS = {
    "slow headers": ["-H", "-i", "2", "-x", "24"],
    "slow body": ["-B", "-i", "2", "-s", "8192", "-x", "10"],
    "slow read": ["-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3"],
    "ranges": ["-R", "-t", "HEAD", "-a", "10", "-b", "3000"],
}
PATHS = {"slow body": "/v1/completions"}  # the others read the page


def request(port, head, body=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    headers = f"Host: x\r\nConnection: close\r\nContent-Length: {len(body)}"
    connection.sendall(f"{head} HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body)
    return connection


def stream(port, tokens):
    """Streams completions for ever, an event for each token."""
    body = json.dumps({"model": "chat", "prompt": "Once upon a time", "max_tokens": 200, "stream": True, "logprobs": 0,
                       "temperature": 1}).encode()
    while True:
        with request(port, "POST /v1/completions", body) as connection, connection.makefile("rb") as lines:
            for line in lines:
                if line.startswith(b"data: {"):
                    with tokens.get_lock():
                        tokens.value += 1


def generate(port, tokens):
    for _ in range(STREAMS):
        threading.Thread(target=stream, args=(port, tokens), daemon=True).start()
    threading.Event().wait()


def probe(port, pipe):
    """Sends the seconds that /health took, and when it was asked."""
    while True:
        began = time.monotonic()
        with request(port, "GET /health") as connection:
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        pipe.send((began, time.monotonic() - began))
        time.sleep(0.025)


class Attack:
    """slowhttptest, again and again, since the server ends its connections."""

    def __init__(self, kind, port, connections):
        url = f"http://127.0.0.1:{port}{PATHS.get(kind, '/')}"
        self.command = ["slowhttptest", *KINDS[kind], "-c", str(connections), "-r", str(RATE), "-l", "60", "-p", "10",
                        "-u", url]

    def __enter__(self):
        self.ended = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.ended:
            self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.process.wait()

    def __exit__(self, *_):
        self.ended = True
        self.process.terminate()
        self.thread.join()


def cpu_seconds(server):
    user, system = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Period:
    """Some seconds of generation: its tokens per second of real and of CPU time, and the times that /health took."""

    def __init__(self, server, tokens, pipe, seconds):
        began, cpu, before = time.monotonic(), cpu_seconds(server), tokens.value
        time.sleep(seconds)
        ended = time.monotonic()
        count = tokens.value - before
        self.rate = count / (ended - began)
        self.cpu_rate = count / (cpu_seconds(server) - cpu)
        self.health = [took for at, took in received(pipe) if began <= at <= ended]


def percentile99(values):
    return sorted(values)[int(0.99 * len(values))]


def received(pipe):
    values = []
    while pipe.poll():
        values.append(pipe.recv())
    return values


def judge(kind, server, connections, rounds, tokens, pipe):
    """Whether the server answered well enough; prints what it did."""
    quiet, attacked, most, used = [], [], 0, os.times()
    for _ in range(rounds):
        quiet.append(Period(server, tokens, pipe, QUIET_SECONDS))
        with Attack(kind, server.port, connections):
            time.sleep(connections / RATE)
            attacked.append(Period(server, tokens, pipe, ATTACK_SECONDS))
            most = max(most, server.descriptors())
        time.sleep(1)
    cpu = sum(os.times()[2:4]) - sum(used[2:4])
    share = cpu / (rounds * (ATTACK_SECONDS + connections / RATE))
    pairs = list(zip(quiet, attacked, strict=True))
    loss = statistics.median(1 - after.rate / before.rate for before, after in pairs)
    cpu_loss = statistics.median(1 - after.cpu_rate / before.cpu_rate for before, after in pairs)
    slowest, usual = (1000 * percentile99([took for period in periods for took in period.health])
                      for periods in (attacked, quiet))
    passed = slowest <= 50 and loss <= 0.05
    print(f"{kind}: {'passed' if passed else 'FAILED'}\n"
          f"  /health, 99th percentile: {slowest:.1f} ms, without {usual:.1f} ms\n"
          f"  tokens/s: {statistics.median(one.rate for one in attacked):.1f}, without"
          f" {statistics.median(one.rate for one in quiet):.1f}; loss {100 * loss:.1f}%,"
          f" of CPU time {100 * cpu_loss:.1f}%\n"
          f"  up to {most} descriptors; the attacker took {100 * share:.1f}% of a processor", flush=True)
    return passed


def main():
    heed, model = sys.argv[1:3]
    connections = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 6
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Server(heed, {"chat": model}, 2) as server:
        tokens = multiprocessing.Value("q", 0)
        pipe, sender = multiprocessing.Pipe(False)
        others = [multiprocessing.Process(target=generate, args=(server.port, tokens), daemon=True),
                  multiprocessing.Process(target=probe, args=(server.port, sender), daemon=True)]
        for other in others:
            other.start()
        time.sleep(3)
        passed = [judge(kind, server, connections, rounds, tokens, pipe) for kind in KINDS]
        alive = all(other.is_alive() for other in others)
        for other in others:
            other.terminate()
    print(f"{sum(passed)} of {len(passed)} passed, exit status of the server {server.status}")
    raise SystemExit(not (all(passed) and alive and server.status == 0))


if __name__ == "__main__":
    main()
