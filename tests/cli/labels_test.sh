#!/usr/bin/env bash
# labels_test.sh HEED: classify and rerank print one answer a line, and refuse models and lines by name.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
models=$golden/encoders

# expect TEXT COMMAND...: the command prints exactly this.
expect() {
  local text=$1
  shift
  "$@" >out
  [[ $(cat out) == "$text" ]] || { echo "$*: expected \"$text\", got:" && cat out && exit 1; }
}

printf 'A cat sits\nThe kitten\tthe fire\n' >lines.txt
label='(bad|fair|good) 0\.[0-9]{4}'
"$heed" classify --model "$models/classify" <lines.txt >out
[[ $(grep -cE "^$label\$" out) == 2 && $(wc -l <out) == 2 ]]
"$heed" classify --model "$models/classify" --top 2 <lines.txt >out
[[ $(grep -cE "^$label"$'\t'"$label\$" out) == 2 && $(wc -l <out) == 2 ]]
"$heed" classify --model "$models/classify" --json <lines.txt >out
[[ $(grep -cE '^\{"labels":\[(\{"label":"[a-z]+","score":0\.[0-9]+\},?){3}\]\}$' out) == 2 ]]
expect $'PER 0.4596 A cat\tPER 0.3286 sits' "$heed" classify --model "$models/ner" < <(head -1 lines.txt)
expect "" "$heed" classify --model "$models/ner" < <(echo)
"$heed" classify --model "$models/ner" --json <lines.txt >out
grep -q '^{"entities":\[{"label":"PER","score":0.459.*,"text":"A cat","start":0,"end":5,"first_token":1,"end_token":3}' out

# Documents in the order of their scores.
printf 'A cat sits on the warm stove.\nThe kitten lies by the fire\ntaxes\n' >documents.txt
query=(--model "$models/rerank" --query "Where does the cat sit?")
expect $'0.4147\tThe kitten lies by the fire\n0.4111\tA cat sits on the warm stove.\n0.4110\ttaxes' \
  "$heed" rerank "${query[@]}" <documents.txt
expect $'0.4147\tThe kitten lies by the fire' "$heed" rerank "${query[@]}" --top 1 <documents.txt
"$heed" rerank "${query[@]}" --json <documents.txt >out
grep -q '^{"index":2,"score":0.411.*,"document":"taxes"}$' out
expect "" "$heed" rerank "${query[@]}" </dev/null

refused "$models/embed-mpnet cannot classify texts, expected a model for the classification of texts (its config.json names the class ForSequenceClassification); it can embed" \
  "$heed" classify --model "$models/embed-mpnet" <lines.txt
refused "$models/classify cannot rerank, expected a cross-encoder (a classifier with one label), a model that answers yes or no, or one with a vector for each token; it can" \
  "$heed" rerank --model "$models/classify" --query a <lines.txt
refused "--top is for the labels of texts" "$heed" classify --model "$models/ner" --top 2 <lines.txt
refused "max_seq_length is 49, expected 1 to 48" \
  "$heed" classify --model "$models/classify" --max-seq-length 49 <lines.txt
misused "--query is required" "$heed" rerank --model "$models/rerank" <lines.txt
mkdir damaged && cp "$models"/classify/* damaged
sed -i 's/"1": "fair"/"3": "fair"/' damaged/config.json
refused "damaged/config.json: id2label has 3 labels, and 1 is not among them" \
  "$heed" classify --model damaged <lines.txt
