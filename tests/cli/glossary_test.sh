#!/usr/bin/env bash
# glossary_test.sh HEED: `heed translate --glossary FILE --do-not-translate TERM` writes the terms, in lines
# and in documents; what is wrong with a glossary is one line that names its place.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

cp -r "$golden/translation/opus-mt" model
translate() {
  "$heed" translate --model model "$@"
}

printf '# terms\nship\tsea\nthe old\tgull | went\n' >terms.tsv
echo 'the old ship' >in
translate --glossary terms.tsv <in >out
grep -qw sea out
grep -qwE 'gull|went' out
translate --glossary terms.tsv --document <in >out
grep -qw sea out
translate --do-not-translate ship --nbest 4 <in >out
[[ $(grep -cw ship out) == 4 ]]
translate <in >free
translate --glossary terms.tsv <<<'a b' >out
translate <<<'a b' | cmp - out

printf 'ship\n' >bad.tsv
refused 'bad.tsv: line 1: a term has 1 columns' translate --glossary bad.tsv <in
printf 'sea\tsea\nship\t\xe6\x96\xb9\n' >bad.tsv
refused 'the required term "方" has characters that the vocabulary lacks' translate --glossary bad.tsv <in
refused 'none.tsv: cannot be opened' translate --glossary none.tsv <in
refused 'terms need beam search' translate --glossary terms.tsv --num-beams 1 <in
refused 'line 1: the required terms' translate --glossary terms.tsv --max-new-tokens 1 <in
