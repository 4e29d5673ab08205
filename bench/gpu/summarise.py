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
        label = ""
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("## "):
                self.steps.append(line[3:])
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
            elif re.match(r"^(mma|launch|exp2|bits|same-tokens|peer failed|part .*FAILED|"
                          r"=+ (ERROR|RACECHECK) SUMMARY|\[  (PASSED|FAILED)  \]|heed: error)", line):
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
    differing = [note for note in notes if note.startswith("mma") and ": 0 of" not in note]
    mma = [note for note in notes if note.startswith("mma")]
    skipped = sorted({note.split("skipped: ")[1] for note in notes if "skipped: " in note})
    lines = [f"mma: {len(mma) - len(differing)} of {len(mma)} chains as the model says"] if mma \
        else []
    lines += differing[:3]
    if skipped:
        lines.append("skipped: " + ", ".join(note.split()[0] for note in skipped))
    lines += [note for note in notes if not note.startswith("mma") and "skipped: " not in note]
    return [line[:150] for line in lines]


def table(rows):
    yield f"{'work':38} {'heed':>9} {'peer':>9} {'floor':>9} {'share':>6} {'predicted':>9}"
    for row in rows:
        if row["heed"] or row["peer"]:
            bad = [word for word in ("WRONG", "OTHER BITS", "FAILED") if word in row["remarks"]]
            yield (f"{row['work'][:38]:38} {row['heed']:>9} {row['peer']:>9} {row['floor']:>9} "
                   f"{row['share'][:5]:>6} {row['predicted']:>9} {' '.join(bad)}")
        elif "FAILED" in row["remarks"]:
            yield f"{row['work']}: {row['remarks']}"[:150]


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
    notes, rates = short(results.notes), list(table(rows))
    notes = notes[:20]
    room = LINES - len(lines) - len(notes) - 1
    if len(rates) > room:
        # Of models and what went wrong everything, of kernels as much as there is room for.
        head, rest = rates[0], rates[1:]
        first = [line for line in rest if "tokens" in line or "llama" in line or "minilm" in line
                 or "marian" in line or line.rstrip().endswith(("WRONG", "BITS", "FAILED"))
                 or "FAILED" in line]
        others = [line for line in rest if line not in first]
        rates = [head, *first, *others][:room] + [f"... {len(rest) + 1 - room} more in results.csv"]
    text = "\n".join([*lines, *notes, *rates])
    (out / "summary.txt").write_text(text + "\n")
    print(text)


main()
