#!/usr/bin/env bash
# distill_test.sh HEED: a distillation that is killed at any moment is continued to the student and the shortlist of one
# that was not; heed translate continues its translations; heed shortlist's file is used by heed translate.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator
for i in $(seq 120); do echo "the $i sheep went $((i % 7)) in $((i % 11)) out"; done >mono.txt

"$heed" shortlist translator --source a.txt --target b.txt --out lex.s2t | grep -q '^lex.s2t: [0-9]* lines from 40 pairs; '
"$heed" translate translator --shortlist lex.s2t <a.txt >listed.txt 2>/dev/null
[[ $(wc -l <listed.txt) == 40 ]]
echo bad >bad.s2t
refused 'bad.s2t line 1: expected a target token, a source token and a probability' \
  "$heed" translate translator --shortlist bad.s2t <a.txt

short=(run.max_steps=6 run.num_train_epochs=0 validation.eval_steps=3 validation.sentences=4 data.held_out=8 run.average=0)
distill=("$heed" distill --teacher translator --text mono.txt --max-ratio 100 --num-beams 2 --preset tiny --threads 1
  --set vocabulary.size=60 --set model.d_model=32 --set model.d_ff=64)
for setting in "${short[@]}"; do distill+=(--set "$setting" --int8-set "$setting"); done

"${distill[@]}" --out whole >table 2>log
for stage in teacher 'teacher in int8' student 'student in int8' 'trained in int8' 'with a shortlist'; do
  grep -q "^$stage  *[0-9.]*  *[0-9.]*  *[0-9]*  *[0-9.]*$" table
done

# Killed after ever longer times, and continued.
resume=()
for tenths in $(seq 1 60); do
  status=0
  timeout -s KILL "$((tenths / 10)).$((tenths % 10))" "${distill[@]}" --out parts "${resume[@]}" >out 2>err || status=$?
  [[ $status == 0 ]] && break
  [[ $status == 137 ]] || { cat err && exit 1; }
  if [[ -e parts/distill.json ]]; then resume=(--resume); fi
done
[[ $status == 0 ]] || "${distill[@]}" --out parts --resume >out 2>err
for file in translations.txt corpus.alignment model/quantized.safetensors model/lex.s2t; do cmp "whole/$file" "parts/$file"; done
refused 'parts has a distillation already: --resume continues it' "${distill[@]}" --out parts

# What cannot be done is refused before anything is written.
refused '--set: there is no key run.foo' "${distill[@]}" --out none --set run.foo=1
refused 'run.max_steps is -1' "${distill[@]}" --out none --set run.max_steps=-1
refused '--int8-set: there is no key run.foo' "${distill[@]}" --out none --int8-set run.foo=1
cp -r "$golden/encoders/embed-bert" embedder
refused "embedder cannot translate, which the teacher does" \
  "$heed" distill --teacher embedder --text mono.txt --out none
[[ ! -e none ]]

# What heed translate has begun is continued.
mkdir begun
head -50 mono.txt | "$heed" translate translator --alignments --num-beams 2 --resume begun/translations.txt 2>/dev/null
"${distill[@]}" --out begun >out 2>err
cmp whole/translations.txt begun/translations.txt
cmp whole/model/quantized.safetensors begun/model/quantized.safetensors
