#!/usr/bin/env bash
# installed_documents_test.sh: in the documents of the packages each link leads to a file, or to an anchor of one, that is
# there; the Debian package's Python module is known to Python's tools; scripts/release says what it does.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$root/packaging/installed_documents" "$work/doc"
python3 - "$work/doc" <<'END'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])

def anchors(path):
    code, found = False, set()
    for line in path.read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        if not code and line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("# "))
            found.add(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found

broken, links = [], 0
for page in root.rglob("*.md"):
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        for target in [] if code else re.findall(r"\]\(([^()\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(root)}: {target}")
assert links > 100, links
assert not broken, "\n".join(broken)
END

"$root/packaging/python_metadata" "$work/dist-packages"
version=$(PYTHONPATH=$work/dist-packages python3 -c 'import importlib.metadata as m; print(m.version("heed"), m.requires("heed"))')
[[ $version == "$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/python/pyproject.toml") ['numpy']" ]]

"$root/scripts/release" --help >"$work/help"
grep -q 'scripts/release DIRECTORY \[debian|tarball|wheels\]' "$work/help"
! "$root/scripts/release" 2>/dev/null
! "$root/scripts/release" "$work/out" nothing 2>"$work/err"
grep -q '"nothing" is none of debian, tarball, wheels' "$work/err"
[[ ! -e $work/out ]]
