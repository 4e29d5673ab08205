#!/usr/bin/env bash
# The charts in docs/ are those that bench/draw_charts makes of the figures in bench/results/, prose is
# at most 120 columns wide, a list of contents has all headings of its page, no merge was left half done, and
# README.md is at most 120 lines long.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

PYTHONDONTWRITEBYTECODE=1 "$root/bench/draw_charts" --out "$work"
for chart in "$work"/*.svg; do
  name=${chart##*/}
  cmp -s "$chart" "$root/docs/$name" || complain "docs/$name is out of date: run bench/draw_charts"
done
for chart in "$root"/docs/s*.svg; do
  [[ -e $work/${chart##*/} ]] || complain "bench/draw_charts did not draw docs/${chart##*/}"
done

# Lines that are too long, in characters. Rows of tables may be, and a link that no space can break.
long_lines() {
  python3 - "$@" <<'END'
import sys
for page in sys.argv[1:]:
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip("\n")
            if len(line) > 120 and not line.startswith("|") and " " in line.strip():
                print(f"{page}:{number}")
END
}
cd "$root"
pages=(*.md docs/*.md bench/results/README.md tests/golden/*/README.md tests/judges/README.md)
found=$(long_lines "${pages[@]}")
[[ -z $found ]] || complain "lines over 120 columns: $found"
! grep -nE '^(<<<<<<<|>>>>>>>) ' "${pages[@]}" || complain "a merge was left half done"

# Of pages that begin with a numbered list of links to their own parts.
for page in docs/*.md; do
  contents=$(sed -nE 's/^[0-9]+\. \[([^]]+)\]\(#[^)]+\)$/\1/p' "$page")
  [[ -z $contents ]] || diff <(sed -nE 's/^## ([0-9]+\. )?//p' "$page") - <<<"$contents" ||
    complain "$page: its list of contents (>) has not its headings (<)"
done

lines=$(wc -l <"$root/README.md")
((lines <= 120)) || complain "README.md has $lines lines, expected at most 120"

((failures == 0)) && echo passed
exit $((failures > 0))
