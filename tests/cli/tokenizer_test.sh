#!/usr/bin/env bash
# heed tokenizer: vocabularies of each kind are trained and read, and offsets cut the line at its tokens.
#
#   tokenizer_test.sh HEED
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
source "$here/common.sh"

for i in $(seq 200); do echo "The old sailor counted $((i * 37)) geese."; done >text
for kind in bpe unigram byte-level-bpe; do
  file=$kind.model
  [[ $kind != byte-level-bpe ]] || file=$kind.json
  "$heed" tokenizer train --kind "$kind" --size 300 --input text --model "$file" 2>err
  grep -qE "^[0-9]+ pieces written to $file\$" err || { cat err && exit 1; }
  "$heed" tokenizer encode --model "$file" <text >ids
  "$heed" tokenizer decode --model "$file" <ids | diff text -
done
"$heed" tokenizer train --kind byte-level-bpe --size 258 --special-token '<a>' --special-token '<b>' \
  --pre-tokenizer qwen2 --input text --model two.json 2>/dev/null
[[ $(echo '<b>' | "$heed" tokenizer encode --model two.json) == 1 ]]
refused 'training: the pre-tokenizer "x" is not known' \
  "$heed" tokenizer train --kind byte-level-bpe --pre-tokenizer x --input text --model x.json

# Bytes and code points of a letter with an accent, which the vocabulary does not have.
tokenizer=$golden/tokenizers/bert_uncased.json
encode() { printf 'x \xc3\xa9\n' | "$heed" tokenizer encode --model "$tokenizer" --pieces "$@"; }
[[ $(encode) == 'x e' ]]
[[ $(encode --offsets bytes) == 'x:0-1 e:2-4' ]]
[[ $(encode --offsets code-points) == 'x:0-1 e:2-3' ]]
[[ $(encode --offsets bytes --special) == '[CLS]:0-0 x:0-1 e:2-4 [SEP]:0-0' ]]
misused '--offsets' "$heed" tokenizer encode --model "$tokenizer" --offsets words
