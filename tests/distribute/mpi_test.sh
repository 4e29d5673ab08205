#!/usr/bin/env bash
# heed train under mpirun: two ranks leave the files of one process; a rank that is stopped is named by one of the
# others, a rank that is told to end stops all, and errors are reported once. With a GPU for each rank also by NCCL.
#
#   mpi_test.sh HEED openmpi|mpich
# shellcheck source=mpi_common.sh
source "$(dirname "${BASH_SOURCE[0]}")/mpi_common.sh"

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
sed 's/went in/came out/' a.txt >b.txt

# train_on RANKS OUT OPTION...
train_on() {
  local ranks=$1 out=$2
  shift 2
  local start=("${launch[@]}" -n "$ranks")
  ((ranks > 1)) || start=()
  timeout 100 "${start[@]}" "$heed" train --preset tiny --threads 1 --source a.txt --target b.txt --out "$work/$out" \
    --set vocabulary.size=60 --set validation.eval_steps=3 --set distributed.leaves=4 --set run.token_budget=512 "$@"
}

train_on 1 one --set run.max_steps=6 >one.log 2>&1 || { cat one.log && exit 1; }
for ranks in 2 4; do
  train_on $ranks "of$ranks" --set run.max_steps=6 >log 2>&1 || { cat log && exit 1; }
  cmp "of$ranks/last/model.safetensors" one/last/model.safetensors
  cmp "of$ranks/last/optimizer.safetensors" one/last/optimizer.safetensors
done

# As the documents say it: the program is found through PATH.
PATH=$(dirname "$heed"):$PATH heed=heed train_on 2 by_path --set run.max_steps=1 >log 2>&1 || { cat log && exit 1; }

# Large messages by NCCL train the same weights; without a GPU for each rank, one error says so.
gpus=(/dev/nvidia[0-9]*)
if [[ -e ${gpus[1]-} && -e $(dirname "$heed")/heed-nccl.so ]]; then
  train_on 2 nccl --set run.max_steps=6 --set distributed.backend=nccl >log 2>&1 || { cat log && exit 1; }
  cmp nccl/last/model.safetensors one/last/model.safetensors
else
  errors '.*(nccl|NCCL)' train_on 2 nccl --set distributed.backend=nccl
fi

# A configuration that is wrong everywhere, and one that too many ranks make wrong.
errors 'd_model is 7' train_on 2 bad --set model.d_model=7
errors 'the run has 4 ranks, but its steps have 2 microbatches' train_on 4 bad --set distributed.leaves=2

# of_rank RANK OUT: the process of a rank that trains there.
of_rank() { process_of "$1" "^$heed train .*--out $work/$2( |$)"; }
# begin OUT: starts a long run on three ranks and waits for its first checkpoint.
begin() {
  train_on 3 "$1" --set run.max_steps=100000 --set run.num_train_epochs=0 --set distributed.timeout=2 >log 2>&1 &
  for _ in $(seq 300); do
    [[ ! -e $1/last/training.json ]] || return 0
    sleep 0.1
  done
  echo 'there is no checkpoint after 30 s' && cat log && exit 1
}
begin stopped
pid=$(of_rank 1 stopped)
kill -STOP "$pid"
wait_for_failure $!
kill -CONT "$pid" 2>/dev/null || true
error_is 'rank 1 \(host [^)]+\) did not arrive within 2 s, at step [0-9]+; last checkpoint: step [0-9]+'

begin told
kill -TERM "$(of_rank 2 told)"
wait $! || { cat log && exit 1; }
grep -aq 'stopped at step .*; continue with --resume' log
train_on 2 told --resume --set run.max_steps=1 >log 2>&1 || { cat log && exit 1; }

# A checkpoint that no rank can read.
truncate --size 100 told/last/optimizer.safetensors
errors '.*told/last/optimizer.safetensors' train_on 2 told --resume
