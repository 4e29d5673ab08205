#!/usr/bin/env bash
# completion_test.sh HEED: bash completes commands, options and the values that --help lists; zsh and fish, where they
# are installed, accept their scripts, which have every option.
set -euo pipefail
heed=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

for shell in bash zsh fish; do
  "$heed" completion "$shell" >"$work/$shell"
  ! command -v "$shell" >/dev/null || "$shell" -n "$work/$shell"
done
# shellcheck disable=SC1091
source "$work/bash"

# completions WORD... : what the last word, which may be empty, may become.
completions() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _heed
  echo "${COMPREPLY[*]}"
}
# completes EXPECTED WORD...
completes() {
  local found
  found=$(completions "${@:2}")
  [[ $found == "$1" ]] || { echo "${*:2}: expected \"$1\", got \"$found\"" && exit 1; }
}
completes 'translate tokenizer train' heed t
completes '--compute' heed translate --model x --comp
completes 'auto f32 int8 bf16' heed translate --compute ''
completes 'bash' heed completion b
completes 'int8' heed translate --compute = i
completes 'train encode decode -h --help' heed tokenizer ''
completes 'bpe byte-level-bpe' heed tokenizer train --kind b
completes '' heed translate --model ''      # a file
completes '' heed translate --num-beams ''  # a number
completes '' heed info mod                  # a file

# options_of COMMAND... : the names of its options in --help, former names not among them.
options_of() {
  "$heed" "$@" --help | grep -oE '^  (-h, )?--[a-z0-9-]+' | grep -oE -- '--.*'
}
for command in train translate serve 'tokenizer train' bench; do
  # shellcheck disable=SC2086  # words
  while read -r option; do
    [[ $(completions heed $command "$option") == "$option"* ]]
    grep -q -- "'heed $command'.* -l ${option#--} " "$work/fish"
    grep -q -- "'\*\?$option[=[]" "$work/zsh"
  done < <(options_of $command)
done
[[ $(options_of translate | wc -l) -gt 15 ]]
if grep -- '--beam\b' "$work"/{bash,zsh,fish}; then echo 'a former option is completed' && exit 1; fi
