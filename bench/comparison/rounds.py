"""Programs taking turns, and what their figures amount to."""
import json
import os
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Program:
    """A contestant: what is run, and how its figure is found in the JSON that it prints last; for a
    program without such a finder, the figure is the seconds from its start to its end."""
    name: str
    command: list
    figure: callable = lambda facts: facts["per_second"]
    environment: dict = field(default_factory=dict)


@dataclass
class Case:
    """Programs that do the same, ours first."""
    what: str
    programs: list
    less_is_better: bool = False
    remark: callable = lambda everyone: ""


@dataclass
class Figures:
    """What a program was measured at, run by run."""
    program: Program
    values: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)  # of its last run
    failure: str = ""

    def median(self):
        return statistics.median(self.values)

    def text(self):
        if not self.values:
            return self.failure
        return f"{number(self.median())} ({number(min(self.values))} to {number(max(self.values))})"


def number(value):
    """As many digits as mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def last_line(text, otherwise="it does not say why"):
    return (text.strip().splitlines() or [otherwise])[-1]


def finish(command, seconds, environment=None):
    """Runs a command to its end; its status and what it printed, or None when the time was up. Then
    it is ended with all that it started."""
    running = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment,
                               start_new_session=True)
    try:
        out, errors = running.communicate(timeout=max(seconds, 1))
        return running.returncode, out, errors
    except subprocess.TimeoutExpired:
        return None
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()


def run_once(figures, seconds):
    """Runs a program for at most `seconds`; a failure ends its part in the comparison."""
    program = figures.program
    environment = dict(os.environ, **program.environment)
    begin = time.monotonic()
    result = finish(program.command, seconds, environment)
    took = time.monotonic() - begin
    if result is None:
        figures.failure = "out of time"
        return
    status, out, errors = result
    if status != 0:
        figures.failure = last_line(errors, f"exit status {status}").replace("|", "/")
    elif program.figure is None:
        figures.values.append(took)
    else:
        figures.facts = json.loads(out.strip().splitlines()[-1])
        figures.values.append(program.figure(figures.facts))


def take_turns(programs, rounds, seconds):
    """Runs every program once a round, in changing order, until all rounds are done or `seconds`
    have passed. Programs that failed are not run again."""
    end = time.monotonic() + seconds
    everyone = [Figures(program) for program in programs]
    for turn in range(rounds):
        begin = time.monotonic()
        shift = turn % len(everyone)
        for figures in everyone[shift:] + everyone[:shift]:
            if not figures.failure:
                run_once(figures, end - time.monotonic())
        took = time.monotonic() - begin
        if time.monotonic() + took > end:
            break
    return everyone


HEADINGS = ["what", "heed", "the best other", "ratio (range)", "rounds", "remarks"]


def ratios(case, ours, theirs):
    """How many times better ours is than theirs, of the runs of the same round, sorted."""
    pairs = zip(ours.values, theirs.values)
    return sorted(b / a if case.less_is_better else a / b for a, b in pairs)


def row(case, everyone):
    """A line of the table: the first program against the best of the others."""
    ours, others = everyone[0], everyone[1:]
    measured = [figures for figures in others if figures.values]
    choose = min if case.less_is_better else max
    best = choose(measured, key=Figures.median, default=None)
    remarks = [case.remark(everyone)]
    remarks += [f"{figures.program.name}: {number(figures.median())}" for figures in measured
                if figures is not best]
    remarks += [f"{figures.program.name}: {figures.failure}" for figures in everyone
                if figures.failure]
    between = ratios(case, ours, best) if best else []
    ratio = (f"**{statistics.median(between):.2f}** ({between[0]:.2f} to {between[-1]:.2f})"
             if between else "")
    theirs = f"{best.program.name}: {best.text()}" if best else ""
    return [case.what, ours.text(), theirs, ratio, str(len(ours.values)),
            "; ".join(filter(None, remarks))]


def line(cells):
    return "| " + " | ".join(cells) + " |"
