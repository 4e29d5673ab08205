"""What the judges of documents have in common: they ask document_judge."""
import json
import subprocess
import sys

TRANSLATIONS = ["identity", "longer", "reversed", "shuffled", "reversed_unaligned", "random", "one_word", "nothing"]


class Judge:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.checked = {}
        self.wrong = {}
        self.shown = {}

    def ask(self, text, format, translations=TRANSLATIONS, **options):
        request = {"format": format, "text": text, "translations": translations, **options}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"document_judge ended at {request}")
        return json.loads(answer)

    def check(self, what, right, *shown):
        """Counts one more check of `what`; the shortest of the wrong ones is shown."""
        self.checked[what] = self.checked.get(what, 0) + 1
        if right:
            return
        self.wrong[what] = self.wrong.get(what, 0) + 1
        if what not in self.shown or len(shown[0]) < len(self.shown[what][0]):
            self.shown[what] = shown

    def finish(self):
        """Prints the counts and ends the program."""
        for what, shown in self.shown.items():
            print(f"{what}:", *shown, sep="\n")
        for what, count in self.checked.items():
            print(f"{what}: {count - self.wrong.get(what, 0)} of {count}")
        sys.exit(1 if self.wrong else 0)
