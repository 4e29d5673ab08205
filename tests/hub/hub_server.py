#!/usr/bin/env python3
"""A hub on the loopback interface that serves a directory, and misbehaves when asked to.

    hub_server.py ROOT

ROOT/OWNER/NAME/ is a repository, with one commit. A file NAME.lfs beside a file NAME says that Git
LFS holds it: its checksum is SHA-256, and requests for it are redirected to a second port, the
content delivery network. ROOT/moved.json has
the repositories that have moved: {"gpt2": "OWNER/NAME"}. ROOT/faults.json says what goes wrong:
{"KEY": {"FAULT": VALUE, "times": N}} for requests whose path ends with KEY, the first N of them (default: all). ROOT/requests.log gets a
line of JSON for each request: port, method, path, range, authorization. The first line on standard output
holds both ports. Ends when standard input does.
"""
import hashlib
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = sys.argv[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
lock = threading.Lock()
served = {}  # how often each fault happened
ports = []


def checksum(path, lfs):
    data = open(path, "rb").read()
    if lfs:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def files_of(repository):
    """Path within the repository -> (path on disk, size, whether Git LFS holds it)."""
    folder = os.path.join(ROOT, repository)
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if not name.endswith(".lfs"):
                found[os.path.relpath(path, folder)] = (path, os.path.getsize(path), os.path.exists(path + ".lfs"))
    return found


def moved():
    """The repositories that have moved, and where to."""
    try:
        return json.load(open(os.path.join(ROOT, "moved.json")))
    except FileNotFoundError:
        return {}


def fault_of(path):
    """The faults that this request meets."""
    try:
        faults = json.load(open(os.path.join(ROOT, "faults.json")))
    except FileNotFoundError:
        return {}
    for key, fault in faults.items():
        if path.endswith(key):
            with lock:
                served[key] = served.get(key, 0) + 1
                if served[key] <= fault.get("times", 1 << 30):
                    return fault
    return {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def log(self, path):
        line = {
            "port": self.server.server_port,
            "method": self.command,
            "path": path,
            "range": self.headers.get("Range"),
            "authorization": self.headers.get("Authorization"),
        }
        with lock, open(os.path.join(ROOT, "requests.log"), "a") as log:
            log.write(json.dumps(line) + "\n")

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.log(path)
        fault = fault_of(path)
        if "stall" in fault:
            time.sleep(fault["stall"])
            self.close_connection = True
            return
        if "status" in fault:
            return self.answer(fault["status"], b"no", [(k, str(v)) for k, v in fault.get("headers", {}).items()])
        if "endless_headers" in fault:
            return self.send_endless_headers()
        if "redirect" in fault:
            return self.answer(302, b"", [("Location", fault["redirect"].replace("CDN", str(ports[1])))])
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and len(parts) >= 4:
            return self.send_api(parts[2:], parse_qs(url.query), fault)
        if len(parts) >= 5 and parts[2] == "resolve":
            return self.send_file("/".join(parts[:2]), parts[3], "/".join(parts[4:]), fault)
        self.answer(404)

    def send_api(self, parts, query, fault):
        if parts[1:2] == ["revision"]:  # a name without an owner
            repository, (kind, *revision) = parts[0], parts[1:]
        else:
            repository, (kind, *revision) = "/".join(parts[:2]), parts[2:] or [""]
        revision = "/".join(revision) or "main"
        owned = moved().get(repository)
        if owned:  # a relative redirect, which loses the query
            return self.answer(307, b"", [("Location", f"/api/models/{owned}/revision/{revision}")])
        if "/" not in repository or not os.path.isdir(os.path.join(ROOT, repository)):
            return self.answer(401, b"{}", [("X-Error-Code", "RepoNotFound")])
        if revision not in ("main", "v1", "refs/pr/1", COMMIT):
            return self.answer(404, b"{}", [("X-Error-Code", "RevisionNotFound")])
        files = sorted(files_of(repository).items())
        if "listing" in fault:
            body = fault["listing"]
        elif kind == "tree":
            body = [self.tree_entry(name, *file) for name, file in files]
        else:
            body = {"id": repository, "sha": COMMIT,
                    "siblings": [self.sibling(name, *file) if "blobs" in query else {"rfilename": name}
                                 for name, file in files]}
        self.answer(200, json.dumps(body).encode(), [("Content-Type", "application/json")])

    @staticmethod
    def sibling(name, path, size, lfs):
        entry = {"rfilename": name, "size": size, "blobId": checksum(path, False)}
        if lfs:
            entry["lfs"] = {"sha256": checksum(path, True), "size": size, "pointerSize": 130}
        return entry

    @staticmethod
    def tree_entry(name, path, size, lfs):
        entry = {"type": "file", "path": name, "size": size, "oid": checksum(path, False)}
        if lfs:
            entry["lfs"] = {"oid": checksum(path, True), "size": size, "pointerSize": 130}
        return entry

    def send_file(self, repository, revision, name, fault):
        file = files_of(repository).get(name)
        if file is None:
            return self.answer(404, b"", [("X-Error-Code", "EntryNotFound"), ("X-Repo-Commit", COMMIT)])
        path, size, lfs = file
        head = [("X-Repo-Commit", COMMIT), ("ETag", f'"{checksum(path, lfs)}"')]
        if lfs and self.server.server_port == ports[0]:
            head += [("X-Linked-Size", str(size)), ("X-Linked-ETag", f'"{checksum(path, lfs)}"')]
            head += [("Location", f"http://127.0.0.1:{ports[1]}{self.path}")]
            return self.answer(302, b"", head)
        data = open(path, "rb").read()
        if "bytes" in fault:
            data = fault["bytes"].encode().ljust(size, b"?")[:size]
        self.send_data(data, head, fault)

    def send_data(self, data, head, fault):
        begin = 0
        wanted = self.headers.get("Range")
        if wanted and "no_ranges" not in fault:
            begin = int(wanted.removeprefix("bytes=").split("-")[0])
        self.send_response(206 if begin else 200)
        for name, value in head:
            self.send_header(name, value)
        if begin:
            at = begin + fault.get("shift_range", 0)
            self.send_header("Content-Range", f"bytes {at}-{len(data) - 1}/{len(data)}")
        rest = data[begin:] + b"x" * fault.get("extra", 0)
        if "chunked" not in fault:
            self.send_header("Content-Length", str(fault.get("length", len(rest))))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command == "HEAD":
            return
        if "break_after" in fault:
            rest = rest[: fault["break_after"]]
            self.close_connection = True
        if "slowly" in fault:  # bytes at a time, with a pause of 50 ms
            for at in range(0, len(rest), fault["slowly"]):
                self.wfile.write(rest[at : at + fault["slowly"]])
                time.sleep(0.05)
        else:
            self.wfile.write(rest)
        if "then_stall" in fault:
            self.wfile.flush()
            time.sleep(fault["then_stall"])

    def send_endless_headers(self):
        self.send_response(200)
        self.flush_headers()
        self.close_connection = True
        for number in range(20000):
            self.wfile.write(f"X-Header-{number}: {'a' * 100}\r\n".encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """Clients that go away in the middle are part of the tests."""


servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
ports.extend(server.server_port for server in servers)
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(*ports, flush=True)
sys.stdin.read()
