#!/usr/bin/env bash
# Gets what compare.py reads: texts of Universal Dependencies, and the golden rules of pysbd.
#
#   fetch.sh FOLDER
set -euo pipefail

folder=${1:?the folder is missing}
mkdir -p "$folder/golden"

# get REPOSITORY BRANCH PATH FILE
get() {
  [[ -s $4 ]] || curl --fail --silent --show-error --location --output "$4" "https://raw.githubusercontent.com/$1/$2/$3"
}

for bank in English-EWT:en_ewt English-PUD:en_pud Spanish-GSD:es_gsd Spanish-PUD:es_pud German-GSD:de_gsd \
  German-PUD:de_pud French-GSD:fr_gsd French-PUD:fr_pud Russian-GSD:ru_gsd Russian-PUD:ru_pud \
  Chinese-GSDSimp:zh_gsdsimp Chinese-PUD:zh_pud Japanese-GSD:ja_gsd; do
  file=${bank#*:}-ud-test.conllu
  get "UniversalDependencies/UD_${bank%:*}" master "$file" "$folder/$file"
done
for language in english spanish deutsch french russian chinese japanese italian dutch polish hindi arabic persian urdu greek; do
  get nipunsadvilkar/pySBD master "tests/lang/test_$language.py" "$folder/golden/test_$language.py"
done
