#!/usr/bin/env bash
# Commands that answer lines, under mpirun: ranks share the lines, and the output has the bytes of one process. A rank
# that is lost is named with its lines, --resume continues, and every error is reported once.
#
#   mpi_lines_test.sh HEED openmpi|mpich
# shellcheck source=mpi_common.sh
source "$(dirname "${BASH_SOURCE[0]}")/mpi_common.sh"

make_translator
for i in $(seq 700); do echo "the $((i * 7 % 100)) sheep went $((i % 13))"; done >lines.txt
head -300 lines.txt | paste - <(head -300 lines.txt | tac) >pairs.txt

# on RANKS COMMAND...: runs heed on so many ranks.
on() {
  local ranks=$1
  shift
  timeout 100 "${launch[@]}" -n "$ranks" "$heed" "$@" --threads 1
}
# same INPUT COMMAND...: three ranks print what one process does.
same() {
  local input=$1
  shift
  "$heed" "$@" --threads 1 --input "$input" >one 2>log
  on 3 "$@" --input "$input" >three 2>log || { cat log && exit 1; }
  cmp one three || { echo "$*: three ranks print something else" && exit 1; }
}
same lines.txt translate --model translator
same lines.txt translate --model translator --json --num-beams 2 --nbest 2
same lines.txt embed "${encoder[@]}"
same lines.txt generate "${decoder[@]}" --max-new-tokens 4 --temperature 1 --json
same pairs.txt score --model translator
same pairs.txt score --model translator --json
same lines.txt rerank --model "$golden/encoders/rerank" --query 'the sheep'
same lines.txt rerank --model "$golden/encoders/rerank" --query 'the sheep' --json --top 7
same lines.txt score "${decoder[@]}" --window 16
same lines.txt score "${decoder[@]}" --window 16 --stride 3 --json

# Fewer lines than ranks, none at all, and lines from standard input.
head -2 lines.txt >two.txt
same two.txt embed "${encoder[@]}"
: >empty.txt
same empty.txt embed "${encoder[@]}"
same empty.txt rerank --model "$golden/encoders/rerank" --query 'the sheep'
"$heed" embed "${encoder[@]}" <two.txt >one
on 3 embed "${encoder[@]}" <two.txt >three && cmp one three

# What all ranks would print is printed by one.
for arguments in --help --version 'embed --help' 'train --preset tiny --dump-config'; do
  # shellcheck disable=SC2086  # several words
  "$heed" $arguments >one
  # shellcheck disable=SC2086
  timeout 60 "${launch[@]}" -n 3 "$heed" $arguments >three
  cmp one three || { echo "$arguments: three ranks print something else" && exit 1; }
done
errors 'HEED_CPU is "nosuch"' env HEED_CPU=nosuch "${launch[@]}" -n 3 "$heed" --version

errors 'heed chat does not run on several ranks' on 3 chat --model decoder
errors 'heed generate with one prompt does not run on several ranks' on 2 generate "${decoder[@]}" --prompt the
errors 'unknown argument --nosuch' on 3 embed --nosuch
errors 'nosuch is neither a path here nor in the cache' on 3 embed --model nosuch --input lines.txt
errors '.*classify cannot rerank, expected .*' on 3 rerank --query a --model "$golden/encoders/classify" --input two.txt
errors 'no.such.file: cannot be read' on 2 embed "${encoder[@]}" --input no.such.file
(head -80 lines.txt && printf 'x\xff\n' && head -80 lines.txt) >bad.txt
errors 'line 81 of standard input is not valid UTF-8' on 3 translate --model translator --input bad.txt
head -80 lines.txt | "$heed" translate --model translator >one
head -80 out | cmp - one
mkdir other && cp encoder/* other/
sed -i 's/"gelu"/"relu"/' other/config.json
embed=("$heed" embed --random-weights 1 --threads 1 --input lines.txt --model)
errors 'rank 1 \(host [^)]+\) has another model' timeout 60 "${launch[@]}" -n 1 "${embed[@]}" encoder : -n 1 "${embed[@]}" other
errors 'rank 1 \(host [^)]+\): nosuch is neither a path here nor in the cache' timeout 60 "${launch[@]}" -n 1 "${embed[@]}" encoder : -n 1 "${embed[@]}" nosuch
errors 'rank 1 \(host [^)]+\): unknown argument --nosuch' timeout 60 "${launch[@]}" -n 1 "${embed[@]}" encoder : -n 1 "${embed[@]}" encoder --nosuch

# of_rank RANK: the process of a rank that translates.
of_rank() { process_of "$1" "^[^ ]*heed translate .*--resume $work/resumed( |$)"; }
for _ in $(seq 40); do cat lines.txt; done >long.txt
translate=(translate --model translator --num-beams 4 --rank-timeout 2 --input "$work/long.txt")
# begin: starts a long run on three ranks and waits for its first answers.
begin() {
  on 3 "${translate[@]}" --resume "$work/resumed" </dev/null >log 2>&1 &
  for _ in $(seq 300); do
    [[ ! -s resumed ]] || return 0
    sleep 0.1
  done
  echo 'there is no answer after 30 s' && cat log && exit 1
}
begin
pid=$(of_rank 2)
kill -STOP "$pid"
wait_for_failure $!
error_is 'rank 2 \(host [^)]+\) did not arrive within 2 s; missing: lines? [0-9]+'
kill -CONT "$pid" 2>/dev/null || true
if [[ $mpi == openmpi ]]; then
  rm resumed
  begin
  kill -KILL "$(of_rank 1)"
  wait_for_failure $!
  error_is 'rank 1 \(host [^)]+\) (does not answer any more|did not arrive within 2 s); missing: lines? [0-9]+'
fi
# One process continues what three ranks have begun. The last line of a killed run may be incomplete.
head -3000 long.txt >long && mv long long.txt
rm -f resumed*
begin
sleep 1.5
kill -KILL "$(of_rank 0)" 2>/dev/null || true
wait || true
"$heed" "${translate[@]}" --threads 1 >one
printf 'half a li' >>resumed
"$heed" "${translate[@]}" --threads 2 --resume resumed
cmp one resumed
on 2 "${translate[@]}" --resume "$work/resumed" && cmp one resumed

# A model that is divided among the ranks generates the same text.
generate=(generate "${decoder[@]}" --max-new-tokens 8 --input lines.txt)
"$heed" "${generate[@]}" >one 2>log
on 2 "${generate[@]}" --tensor-parallel >two 2>log || { cat log && exit 1; }
cmp one two
score=(score "${decoder[@]}" --window 16 --input lines.txt)
"$heed" "${score[@]}" >one
on 2 "${score[@]}" --tensor-parallel >two 2>log || { cat log && exit 1; }
cmp <(sed 's/\(\.[0-9]\)[0-9]*/\1/g' one) <(sed 's/\(\.[0-9]\)[0-9]*/\1/g' two)
errors '.*the model cannot be divided among 3 ranks: num_attention_heads is 2' on 3 "${generate[@]}" --tensor-parallel
