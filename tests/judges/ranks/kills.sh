#!/usr/bin/env bash
# Kills random ranks at random moments of runs on four ranks, KILLS times (default: 50), while heed launch continues them.
# Every run must end with the bits of an uninterrupted one. On one machine; needs no root:
#
#   kills.sh HEED openmpi|mpich [KILLS]
set -euo pipefail
heed=$(realpath "$1") mpi=${2:-openmpi} kills=${3:-50}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
ulimit -c 0
launcher="mpirun.$mpi -n {ranks} --host {hosts}"
if [[ $mpi == openmpi ]]; then
  launcher+=' --mca btl self,vader'
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
sed 's/went in/came out/' a.txt >b.txt
train=(train --preset tiny --threads 1 --source a.txt --target b.txt --set vocabulary.size=60 --set run.max_steps=400
       --set run.num_train_epochs=0 --set validation.sentences=4 --set validation.eval_steps=20
       --set distributed.leaves=4 --set distributed.timeout=20)
"$heed" "${train[@]}" --out uninterrupted >log 2>&1 || { cat log && exit 1; }

# kill_one RUN: kills one of the ranks that train there, if there are any.
kill_one() {
  local ranks
  mapfile -t ranks < <(pgrep -f "^$heed train .*--out $1( |$)")
  ((${#ranks[@]} > 0)) && kill -KILL "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null
}

killed=0 runs=0
while ((killed < kills)); do
  runs=$((runs + 1))
  timeout 600 "$heed" launch --hosts localhost:4 --restarts 1000 --launcher "$launcher" -- \
    "${train[@]}" --out "run$runs" >log 2>&1 &
  run=$!
  while kill -0 $run 2>/dev/null; do
    sleep "$((RANDOM % 4)).$((RANDOM % 10))"
    if ((killed < kills)) && kill_one "run$runs"; then killed=$((killed + 1)); fi
  done
  wait $run || { tail -50 log && echo "FAILED: run $runs after $killed kills" && exit 1; }
  for file in model optimizer; do
    cmp "run$runs/last/$file.safetensors" "uninterrupted/last/$file.safetensors"
  done
  echo "run $runs: $killed kills so far, $(grep -ac 'heed: restart' log) restarts, the same bits"
  rm -r "run$runs"
done
