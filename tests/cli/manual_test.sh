#!/usr/bin/env bash
# manual_test.sh HEED: each command has a manual page with its description, its options, its examples and what all pages
# have, about which troff and mandoc, where they are installed, have nothing to complain.
set -euo pipefail
heed=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$heed" manual "$work"
commands=$("$heed" --help | sed -n '/^Options:/q; s/^  \([a-z][a-z-]*\) .*/\1/p')
[[ $(wc -w <<<"$commands") -gt 15 ]]
for command in '' $commands 'tokenizer train' 'tokenizer encode'; do
  page=heed${command:+-${command// /-}}
  # shellcheck disable=SC2086  # words
  "$heed" $command --help >"$work/help"
  # As text, on one line, without the marks of troff.
  sed -E 's/\\f[BIR]//g; s/\\-/-/g; s/\\\(aq/'\''/g; s/\\\(ti/~/g; s/\\e/\\/g; s/\\&//g' "$work/$page.1" |
    tr '\n' ' ' >"$work/text"
  says() { grep -qF -- "$1" "$work/text" || { echo "$page.1 lacks \"$1\"" && exit 1; }; }
  says "$(sed '/^$/q' "$work/help" | tr '\n' ' ' | sed 's/^heed: //; s/ *$//')"
  while read -r option; do says "$option"; done < <(grep -oE '^  (-h, )?--[a-z0-9-]+' "$work/help" | grep -oE -- '--.*')
  while read -r example; do says "$example"; done < <(grep -E '^ +heed ' "$work/help")
  says "$(date -d "$(sed -n 's/^## .*(\(20.*\))$/\1/p' "$source/CHANGELOG.md" | head -n 1)" +%F)"
  for heading in 'EXIT STATUS' ENVIRONMENT; do says ".SH $heading"; done
  if command -v groff >/dev/null; then
    complaints=$(groff -man -Tutf8 -ww "$work/$page.1" 2>&1 >/dev/null)
    [[ -z $complaints ]] || { echo "$complaints" && exit 1; }
  fi
  if command -v mandoc >/dev/null; then
    mandoc -T lint "$work/$page.1"
  fi
done

# A word of troff at the beginning of a line, or a backslash, is text.
if grep -nE "^\.(so|sy|pso)|^'" "$work"/*.1; then exit 1; fi
if "$heed" manual "$work/absent" 2>"$work/errors"; then exit 1; fi
grep -qxF "heed: error: $work/absent is not a directory" "$work/errors"
