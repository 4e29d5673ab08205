# Sourced by the tests of the installed library, after tests/cli/common.sh.
# shellcheck shell=bash disable=SC2034,SC2154  # used by those who source it; heed, work: of tests/cli/common.sh
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$source_root/examples/library

# A translator, a language model and an encoder, each trained for two steps.
make_models() {
  make_translator
  local task
  for task in causal-lm masked-lm; do
    "$heed" train --task "$task" --text a.txt --out "$task" --set run.max_steps=2 \
      --set vocabulary.size=300 2>train.log || { cat train.log && exit 1; }
  done
}

# runs_like_heed FOLDER : the programs of FOLDER print what heed itself prints.
runs_like_heed() {
  local folder=$1 program
  "$folder/generate" causal-lm >out
  "$heed" generate --model causal-lm --prompt 'Once upon a time' --max-new-tokens 100 2>/dev/null |
    head -c -1 | diff - out
  "$heed" translate --model translator <a.txt >expected
  for program in "$folder"/translate*; do
    [[ -x $program && -f $program ]] || continue
    "$program" translator <a.txt | diff expected -
  done
  "$folder/embed" masked-lm | grep -qE '^(0\.[0-9]+|1)'
  for program in tokenize tokenize_c; do
    "$heed" tokenizer encode --model causal-lm --special --offsets bytes <a.txt |
      diff - <("$folder/$program" causal-lm <a.txt)
  done
}
