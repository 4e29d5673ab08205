#!/usr/bin/env bash
# recipes_test.sh HEED: each recipe of docs/recipes.md runs, with small models for those that it names.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
document=$golden/../../docs/recipes.md
mkdir bin
ln -s "$(realpath "$heed")" bin/heed
PATH=$work/bin:$PATH

# A model that talks, and the others.
for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
heed train --task causal-lm --text a.txt --out talks --set run.max_steps=2 --set vocabulary.size=300 2>/dev/null
echo "{% for message in messages %}{{ message.role + ': ' + message.content + ' ' }}{% endfor %}" >talks/chat_template.jinja
export CHAT=$work/talks EMBEDDER=$golden/encoders/embed-mpnet RERANKER=$golden/encoders/rerank
export TRANSLATOR=$golden/translation/opus-mt NER=$golden/encoders/ner

python3 - "$document" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^## (.*?)$|^```sh\n(.*?)^```$", text, re.M | re.S)
title = ""
for number, (heading, block) in enumerate(blocks):
    title = heading or title
    if block and "CHAT=" not in block:
        open(f"recipe-{number:02}.sh", "w").write(f"# {title}\nset -euo pipefail\n{block}")
END
# In the order of the page: later ones read files of earlier ones.
count=0
for recipe in recipe-*.sh; do
  bash "$recipe" >out 2>err || { head -n 1 "$recipe" && cat err && exit 1; }
  count=$((count + 1))
done
((count >= 11))
grep -q '^CHAT=HuggingFaceTB/' "$document"
