#!/usr/bin/env python3
"""heed serve under systemd: deploy/heed.service, but for its sandbox, in a manager of its own.

    tests/judges/serving/systemd.py HEED

Needs root and Debian's package systemd, not a machine that was started by it: a user manager runs in namespaces of
processes and mounts, with /run of its own. Watched are the start (Type=notify), a reload, a server that works under its
watchdog, one that is stopped by a signal, one whose models are at the same step for too long, and the end.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from slow_model import TREE, make_slow_decoder
from page_steps import make_decoder

sys.path.insert(0, str(TREE / "bench"))
from load.server import free_port  # noqa: E402

PATIENCE = 90  # seconds for what takes a few
UNITS = pathlib.Path("/run/judge-units")
WATCHDOG_SECONDS = 4
GROUP = "heed-judge"
INSIDE = "--inside"


def manager():
    """A user manager in these namespaces, in a control group of its own."""
    subprocess.run(["umount", "--recursive", "--lazy", "/sys/fs/cgroup"], check=True)
    subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
    group = pathlib.Path("/sys/fs/cgroup") / GROUP
    group.mkdir(exist_ok=True)
    (group / "cgroup.procs").write_text("0")
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    UNITS.mkdir()
    pathlib.Path("/run/systemd/system").mkdir(parents=True)  # "this machine was started by systemd"
    pathlib.Path("/run/user").mkdir(mode=0o700)
    for name in ("basic.target", "default.target", "shutdown.target"):
        (UNITS / name).write_text("[Unit]\nDefaultDependencies=no\n")
    os.environ |= {"XDG_RUNTIME_DIR": "/run/user", "SYSTEMD_UNIT_PATH": str(UNITS)}
    return subprocess.Popen(["/lib/systemd/systemd", "--user"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def systemctl(*arguments, check=True):
    done = subprocess.run(["systemctl", "--user", *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert not check or done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


def facts(*names):
    return [systemctl("show", "heed", "--value", "-p", name) for name in names]


def wait(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what}: {systemctl('status', 'heed', check=False)}"
        time.sleep(0.1)


def install(heed, config, watchdog_seconds):
    """The unit of deploy/ up to its sandbox, which a user manager cannot make."""
    unit = (TREE / "deploy/heed.service").read_text().split("\nDynamicUser=")[0]
    for name, value in (("ExecStart", f"{heed} serve --config {config}"), ("WatchdogSec", f"{watchdog_seconds}s")):
        unit, count = re.subn(rf"^{name}=.*$", f"{name}={value}", unit, flags=re.MULTILINE)
        assert count == 1, name
    (UNITS / "heed.service").write_text(unit + "\n[Unit]\nDefaultDependencies=no\n")
    systemctl("daemon-reload")


class Judge:
    def __init__(self, folder, heed):
        self.folder, self.heed, self.port = folder, heed, free_port()
        make_decoder(folder / "tiny")
        make_slow_decoder(folder / "slow", layers=6)

    def configure(self, *models):
        tables = [f'[[model]]\nname = "{name}"\npath = "{self.folder / name}"\nrandom_weights = 1\n' for name in models]
        (self.folder / "serve.toml").write_text(f"port = {self.port}\n" + "".join(tables))

    def ask(self, path, body=None, timeout=PATIENCE):
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout) as answer:
            return answer.read().decode()

    def is_there(self):
        try:
            return bool(self.ask("/health", timeout=5))
        except OSError:
            return False

    def models(self):
        return {model["id"] for model in json.loads(self.ask("/v1/models"))["data"] if model["loaded"]}

    def starts(self):
        self.configure("tiny")
        install(self.heed, self.folder / "serve.toml", WATCHDOG_SECONDS)
        systemctl("start", "heed")
        assert self.is_there()  # once systemctl returns
        assert facts("ActiveState", "Type", "WatchdogUSec") == ["active", "notify", f"{WATCHDOG_SECONDS}s"]

    def reloads(self):
        self.configure("tiny", "slow")
        systemctl("reload", "heed")
        wait("a reload", lambda: self.models() == {"tiny", "slow"})
        wait("the end of a reload", lambda: facts("ActiveState", "SubState") == ["active", "running"])

    def works_under_its_watchdog(self):
        before = facts("MainPID", "NRestarts")
        end = time.monotonic() + 3 * WATCHDOG_SECONDS
        while time.monotonic() < end:
            self.ask("/v1/completions", {"model": "tiny", "prompt": "a", "max_tokens": 200})
        assert facts("MainPID", "NRestarts") == before

    def is_started_again(self, what, pid):
        """By the watchdog, which is said until then."""
        wait(what, lambda: facts("Result") == ["watchdog"])
        wait("a restart " + what, lambda: facts("ActiveState") == ["active"] and self.is_there())
        assert facts("MainPID")[0] != pid

    def is_killed_when_it_hangs(self):
        [pid] = facts("MainPID")
        os.kill(int(pid), 19)  # SIGSTOP: as if all of its threads hung
        self.is_started_again("after a stop", pid)
        assert facts("NRestarts") == ["1"]

    def is_killed_when_a_step_hangs(self):
        """A step of the prefill takes longer than the watchdog allows; only the network thread goes on."""
        install(self.heed, self.folder / "serve.toml", 0.5)
        systemctl("restart", "heed")
        assert self.is_there()
        [pid] = facts("MainPID")
        time.sleep(2)
        assert facts("MainPID") == [pid]  # without work it stays

        def prefill():
            try:
                self.ask("/v1/completions", {"model": "slow", "prompt": "a b c " * 4000, "max_tokens": 1})
            except OSError:
                pass
        thread = threading.Thread(target=prefill)
        thread.start()
        self.is_started_again("after a long step", pid)
        thread.join()

    def ends_after_its_streams(self):
        install(self.heed, self.folder / "serve.toml", WATCHDOG_SECONDS)
        systemctl("restart", "heed")
        body = {"model": "tiny", "prompt": "a", "max_tokens": 1000, "stream": True}
        data = json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/completions", data, PATIENCE) as stream:
            assert stream.readline().startswith(b"data: ")
            ending = threading.Thread(target=systemctl, args=("stop", "heed"))
            ending.start()
            assert stream.read().endswith(b"data: [DONE]\n\n")
        ending.join()
        assert facts("ActiveState", "Result") == ["inactive", "success"]


def judge(heed):
    started = manager()
    try:
        wait("the manager", lambda: systemctl("is-system-running", check=False) in ("running", "degraded"))
        with tempfile.TemporaryDirectory() as folder:
            one = Judge(pathlib.Path(folder), heed)
            for check in (one.starts, one.reloads, one.works_under_its_watchdog, one.is_killed_when_it_hangs,
                          one.is_killed_when_a_step_hangs, one.ends_after_its_streams):
                begin = time.monotonic()
                check()
                print(f"{check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    finally:
        started.kill()
        started.wait()


def remove_empty(folder):
    """A control group is busy for a moment after its last process."""
    for _ in range(20):
        with contextlib.suppress(OSError):
            return os.rmdir(folder)
        time.sleep(0.2)
    print(f"{folder} is left")


def remove_group():
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, point, kind, *_ = line.split()
        if kind == "cgroup2":
            for folder, _, _ in os.walk(pathlib.Path(point) / GROUP, topdown=False):
                remove_empty(folder)


def main():
    heed = os.path.abspath(sys.argv[1])
    if sys.argv[2:] == [INSIDE]:
        return judge(heed)
    if not shutil.which("systemctl") or os.geteuid():
        sys.exit("error: this needs root, and the programs of systemd")
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    status = subprocess.run([*namespaces, sys.executable, __file__, heed, INSIDE]).returncode
    remove_group()
    sys.exit(status)


if __name__ == "__main__":
    main()
