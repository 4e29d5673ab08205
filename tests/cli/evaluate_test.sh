#!/usr/bin/env bash
# evaluate_test.sh HEED: metrics have their options, systems are compared, and what cannot be compared is refused.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

printf 'the cat sat on the mat\nhello\n' >ref
printf 'on the mat sat the cat\nhello\n' >moved
printf 'the cat sat on a mat\nHello\n' >close
printf 'a b\n' >short

"$heed" evaluate ter --reference ref <moved >out
head -1 out | grep -qx 'TER = 28.57'
grep -q '^nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|' out
"$heed" evaluate ter --reference ref --case-sensitive --input close | grep -qx 'TER = 28.57'
"$heed" evaluate ter --reference ref --reference close --case-sensitive --input close | grep -qx 'TER = 0.00'
"$heed" evaluate chrf --word-order 2 --reference ref --input close | grep -q '^chrF2++ = '

# An interval, and the comparison with a baseline, whose numbers do not depend on the threads.
"$heed" evaluate bleu --reference ref --input close --confidence --confidence-n 50 >out
grep -q '^BLEU = .* (μ = .* ± .*) .*hyp_len' out
grep -q '|bs:50|seed:12345|' out
for threads in 1 2; do
  "$heed" evaluate chrf --reference ref --baseline moved --paired-bs --threads "$threads" <close
done | sort | uniq -c | grep -c '^ *2 ' | grep -qx 3
"$heed" evaluate ter --reference ref --baseline moved --paired-ar --input close --input moved --json |
  grep -q '"system":"moved","score":[0-9.]*},{"system":"close","score":[0-9.]*,"p_value":[0-9.e-]*}\]'
"$heed" evaluate bleu --reference ref --input close --input moved | wc -l | grep -qx 3

refused "close has 2 lines, short has 1" "$heed" evaluate bleu --reference short --input close
misused "--baseline is for --paired-bs or --paired-ar" "$heed" evaluate bleu --reference ref --baseline moved
misused "--paired-bs requires --baseline" "$heed" evaluate bleu --reference ref --paired-bs
misused "unknown argument --word-order" "$heed" evaluate bleu --reference ref --word-order 2

# COMET, in a directory as unbabel-comet publishes them.
cp -r "$golden/comet/regression" comet
cp "$golden"/comet/encoder/* comet
printf 'el viejo marinero\na sheep\n' >out
printf 'the old sailor\nsheep\n' >source
printf 'el marinero viejo\nthe sheep\n' >reference
"$heed" evaluate comet comet --source source --reference reference <out | grep -qx 'COMET = -3.1501'
misused "this model compares with references: give them with --reference" \
  "$heed" evaluate comet comet --source source <out
refused "standard input has 1 lines, source has 2" "$heed" evaluate comet comet --source source --reference ref <short
