#!/usr/bin/env bash
# warnings_test.sh HEED: every command that reads a model names the settings of its files that have no effect, on standard
# error, and gives its results.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

sed -i 's/{/{"alibi": true, /' decoder/config.json encoder/config.json

# warns COMMAND...: the command succeeds and prints the warning once.
warns() {
  "$@" >out 2>err || { echo "$*: failed:" && cat err && exit 1; }
  if [[ $(grep -c '^heed: warning: .*config.json: alibi is true and is ignored: ' err) != 1 ]]; then
    echo "$*: expected one warning, got:" && cat err && exit 1
  fi
}

warns "$heed" info decoder
warns "$heed" logits "${decoder[@]}" --tokens 5,7
warns "$heed" generate "${decoder[@]}" --prompt the --max-new-tokens 2
warns "$heed" embed "${encoder[@]}" <<<"the sea"
warns "$heed" score "${decoder[@]}" <<<"the sea went out"
printf '[[model]]\nname = "d"\npath = "decoder"\nrandom_weights = 1\n' >serve.toml
warns "$heed" serve --config serve.toml --dry-run

# A tensor or a field that would change results is refused instead.
sed -i 's/{/{"is_decoder": true, /' encoder/config.json
refused "encoder/config.json: is_decoder is true, expected false" "$heed" embed "${encoder[@]}" <<<"the"
