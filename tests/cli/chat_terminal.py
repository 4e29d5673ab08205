"""chat_terminal.py HEED MODEL TEMPLATE: talks to heed chat through a pseudo-terminal. Exits with 77,
which skips a test, where the system has none."""

import os
import pty
import select
import sys
import time

heed, model, template = sys.argv[1:4]
try:
    for file in os.openpty():
        os.close(file)
except OSError as error:
    print("skipped: there is no pseudo-terminal:", error, file=sys.stderr)
    sys.exit(77)


class Terminal:
    def __init__(self, *options, model=model):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.environ.pop("NO_COLOR", None)
            os.execv(heed, [heed, "chat", "--model", model, "--random-weights", "1", *options])
        self.seen = b""

    def read_until(self, expected, seconds=20):
        """What is printed until `expected` is, and how long that took."""
        start = time.monotonic()
        while expected not in self.seen:
            left = start + seconds - time.monotonic()
            assert left > 0 and select.select([self.file], [], [], left)[0], (expected, self.seen)
            try:
                self.seen += os.read(self.file, 4096)
            except OSError:
                raise AssertionError((expected, self.seen))
        before, _, self.seen = self.seen.partition(expected)
        return before, time.monotonic() - start

    def type(self, text):
        os.write(self.file, text.encode())

    def end(self):
        """The exit status after Ctrl-D."""
        self.type("\x04")
        try:
            while select.select([self.file], [], [], 20)[0]:
                os.read(self.file, 4096)
        except OSError:
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        raise AssertionError("heed chat does not end")


# Decoding never ends by itself here: the end token is forbidden.
endless = ("--logit-bias", "1:-inf", "--logit-bias", "2:-inf")
terminal = Terminal(*endless, "--context", "64")
terminal.read_until(b"Ctrl-D ends the program")
terminal.read_until(b"> ")
terminal.type("the sh\x7f\x7fsheep\n")
terminal.read_until(b"\n")
answer, _ = terminal.read_until(b"context of 64 tokens is full")
assert b"\x1b[2m" not in answer, answer
terminal.read_until(b"> ")
terminal.type("half a line")
terminal.read_until(b"half a line")
terminal.type("\x03")
terminal.read_until(b"> ")
terminal.type("/save typed.json\n")
terminal.read_until(b"\n")
terminal.read_until(b"> ")
assert terminal.end() == 0
assert "the sheep" in open("typed.json").read(), open("typed.json").read()
history = open(os.path.join(os.environ["XDG_STATE_HOME"], "heed", "chat_history")).read()
assert "the sheep" in history.replace("\\040", " "), history

# The template begins an endless thought.
terminal = Terminal(*endless, "--chat-template", template, "--history", "", "--context", "60")
terminal.read_until(b"> ")
terminal.type("went\n")
terminal.read_until(b"\x1b[2m")
terminal.read_until(b"> ")
assert terminal.end() == 0

# With a model that computes for long, Ctrl-C stops the answer and not the program.
terminal = Terminal(*endless, model="large")
terminal.read_until(b"> ")
terminal.type("the sheep went in\n")
terminal.read_until(b"\n")
time.sleep(0.3)
os.write(terminal.file, b"\x03")
_, seconds = terminal.read_until(b"stopped")
assert seconds < 1, seconds  # 0.1 s and much more for a loaded machine
terminal.read_until(b"> ")
terminal.type("/stats\n")
terminal.read_until(b"messages                2")
terminal.read_until(b"> ")
assert terminal.end() == 0
