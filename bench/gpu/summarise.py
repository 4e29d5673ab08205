"""Makes results.csv and a summary, which it prints, of what bench/gpu/queue.sh logged.

    summarise.py OUT

Rates are in us where nothing else is said; `share` is that of the floor, which is the time that
bytes and operations take at least, and `predicted` what predicted.csv says.
"""
import csv
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
LINES = 60  # of the summary
COLUMNS = ["tree", "card", "driver", "work", "unit", "heed", "peer", "floor", "share", "predicted",
           "remarks"]
KERNEL = re.compile(r"^([^,@#{]+),([\d.]*),([\d.]*),([\d.]*),([^,]*)$")
NOTE = re.compile(r"mma|launch|exp2|bits|same-tokens|peer failed|part .*FAILED|heed: error")
# What tests and compute-sanitizer say, which do not name their step.
OF_STEP = re.compile(r"=+ (?:ERROR|RACECHECK) SUMMARY: (.*)|(\[  (?:PASSED|FAILED)  \].*)|"
                     r"(.*, element \d+ of .*)|.* with description (.*)")
FAULTS = 8  # shown of a step


def rate(value):
    return "" if value in ("", None) else f"{float(value):.4g}"


def predictions():
    with open(HERE / "predicted.csv", newline="") as file:
        return {row["work"]: row for row in csv.DictReader(file)}


class Results:
    def __init__(self):
        self.rows = {}
        self.peers = {}
        self.notes = []
        self.steps = []
        self.ceilings = []
        self.card = self.driver = ""

    def row(self, work, unit):
        return self.rows.setdefault(work, {"work": work, "unit": unit, "remarks": ""})

    def kernel(self, match):
        work, heed, floor, share, check = match.groups()
        if check.startswith("skipped"):
            self.notes.append(f"{work}: {check}")
            return
        self.row(work, "us").update(heed=heed, floor=floor, share=share, remarks=check)

    def model(self, label, found):
        measured = found["measured"]
        if "outputs" in measured:  # of translation: all of it, the encoder included
            outputs = measured["outputs"]
            self.rates(label, outputs, "tokens/s", measured["decode"]["count"] / outputs["count"])
        elif "texts" in measured:
            self.rates(label, measured["texts"], "texts/s")
        else:
            length = measured["prefill"]["count"] // found["batch"]
            beside = f" B={found['batch']}"
            self.rates(f"{label} prefill {length}" + (beside if found["batch"] > 1 else ""),
                       measured["prefill"], "tokens/s")
            self.rates(f"{label} decode" + beside, measured["decode"], "tokens/s")

    def rates(self, work, found, unit, factor=1):
        slowest, fastest = (factor * found[name] for name in ("slowest", "fastest"))
        self.row(work, unit).update(heed=factor * found["per_second"],
                                    remarks=f"{slowest:.4g} to {fastest:.4g}")

    def peer(self, found):
        best = self.peers.get(found["work"])
        faster = best is None or (found["value"] < best["value"]) == (found["unit"] == "us")
        if faster:
            self.peers[found["work"]] = found
        self.row(found["work"], found["unit"])

    def read(self, path):
        label = step = ""
        faults = 0
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("## "):
                self.steps.append(line[3:])
            elif line.startswith("# "):
                step, faults = line[2:], 0
            elif line.startswith("@ "):
                label = line[2:]
            elif line.startswith("ceiling "):
                self.ceilings.append(line[8:])
            elif line.startswith('{"work"'):
                self.peer(json.loads(line))
            elif line.startswith("{") and '"measured"' in line:
                self.model(label, json.loads(line))
            elif match := KERNEL.match(line):
                self.kernel(match)
            elif match := re.match(r"^(NVIDIA [^,]+), ([\d.]+), ", line):
                self.card, self.driver = match.groups()
            elif match := OF_STEP.match(line):
                faults += 1
                if faults <= FAULTS or "SUMMARY" in line or "[  " in line:
                    self.notes.append(f"{step}: {next(filter(None, match.groups()))}")
            elif NOTE.match(line):
                self.notes.append(line)

    def finished(self):
        predicted = predictions()
        for work, row in self.rows.items():
            expected = predicted.get(work, {})
            peer = self.peers.get(work)
            if peer:
                row["peer"] = peer["value"]
                row["remarks"] = "; ".join(filter(None, [row["remarks"], peer["peer"]]))
            row["predicted"] = expected.get("predicted", "")
            if not row.get("floor") and expected.get("floor"):
                row["floor"] = expected["floor"]
                if row.get("heed"):
                    row["share"] = float(row["heed"]) / float(expected["floor"])
            row.update(tree=os.environ.get("HEED_TREE", ""), card=self.card, driver=self.driver)
            for name in ("heed", "peer", "floor", "share"):
                row[name] = rate(row.get(name))
        return list(self.rows.values())


def short(notes):
    """Notes of one kind are counted when they are many."""
    mma = [note for note in notes if note.startswith("mma")]
    differing = [note for note in mma if ": 0 of" not in note]
    lines = [f"mma: {len(mma) - len(differing)} of {len(mma)} chains as the model says"] if mma \
        else []
    lines += differing[:3]
    skipped = sorted({note.split("skipped: ")[1].split()[0] for note in notes
                      if "skipped: " in note})
    if skipped:
        lines.append("skipped: " + ", ".join(skipped))
    failed = [note for note in notes if note.startswith("peer failed")]
    if failed:
        lines.append(f"{len(failed)} failures of peers, such as {failed[0][13:]}")
    first = ("mma", "peer failed", "launch")
    others = [note for note in notes if not note.startswith(first) and "skipped: " not in note]
    launch = [re.sub(r"^launch ", "", note) for note in notes if note.startswith("launch")]
    return [line[:160] for line in [*lines, *others[:14], *launch[:6]]]


def ratio(row):
    """How many times as fast as the peer heed is."""
    if not row["heed"] or not row["peer"]:
        return ""
    value = float(row["peer"]) / float(row["heed"])
    return f"{value if row['unit'] == 'us' else 1 / value:.2f}"


def table(rows):
    yield (f"{'work':38} {'heed':>9} {'peer':>9} {'ratio':>6} {'floor':>9} {'share':>6} "
           f"{'predicted':>9}")
    for row in rows:
        if row["heed"] or row["peer"]:
            bad = [word for word in ("WRONG", "OTHER BITS", "FAILED") if word in row["remarks"]]
            yield (f"{row['work'][:38]:38} {row['heed']:>9} {row['peer']:>9} {ratio(row):>6} "
                   f"{row['floor']:>9} {row['share'][:5]:>6} {row['predicted']:>9} {' '.join(bad)}")
        elif "FAILED" in row["remarks"]:
            yield f"{row['work']}: {row['remarks']}"[:160]


def importance(line):
    """Of models and what went wrong everything; of kernels as much as there is room for."""
    if re.search("WRONG|OTHER BITS|FAILED|llama|minilm|marian", line):
        return 0
    if re.search(r"^tile|f32 M=| M=(8|512) |q8_0|q4_K| 64x4096| 1x", line):
        return 2
    return 1


def main():
    out = pathlib.Path(sys.argv[1])
    results = Results()
    results.read(out / "log.txt")
    rows = results.finished()
    with open(out / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    steps = [step for step in results.steps if not step.endswith("status 0")]
    lines = [f"{results.card}, driver {results.driver}; ceilings: {', '.join(results.ceilings)}",
             f"steps: {len(results.steps)}, other than 0: {'; '.join(steps) or 'none'}"]
    notes, (head, *rates) = short(results.notes), table(rows)
    room = LINES - len(lines) - len(notes) - 2
    shown = set(sorted(range(len(rates)), key=lambda i: importance(rates[i]))[:room])
    rates = [head, *(rates[i] for i in sorted(shown)),
             f"... {len(rates) - len(shown)} more in results.csv"]
    text = "\n".join([*lines, *notes, *rates])
    (out / "summary.txt").write_text(text + "\n")
    print(text)


main()
