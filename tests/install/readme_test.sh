#!/usr/bin/env bash
# The C++ programs in README.md are those of examples/library/, each of at most 15 lines. Those of docs/c.md
# and of C in docs/tokenizers.md are there as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=(examples/library/{generate,translate,embed}.cc)
diff <(awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' README.md) <(cat "${programs[@]}")
diff <(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md) examples/library/generate.c
diff <(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/tokenizers.md) examples/library/tokenize.c
for program in "${programs[@]}"; do
  lines=$(wc -l <"$program")
  ((lines <= 15)) || { echo "$program has $lines lines, expected at most 15" && exit 1; }
done
