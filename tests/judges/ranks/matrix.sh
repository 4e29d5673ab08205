#!/usr/bin/env bash
# Trains a tiny translator for 200 steps on 1, 2, 4 and 8 ranks, with 1 and 2 threads each, in f32 and bf16, under Open
# MPI and MPICH, and a run that is resumed on 4, 2, 8 and 1 ranks. All must end with the same weights and moments. Prints
# a line for each run: how it ran, the SHA-256 of all weights, and seconds.
#
#   matrix.sh HEED [STEPS]
set -euo pipefail
heed=$(realpath "$1")
steps=${2:-200}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

awk 'BEGIN {
  srand(7); split("one two red sun sea bread light man", from, " "); split("uno dos rojo sol mar pan luz hombre", to, " ")
  for (i = 0; i < 600; ++i) {
    a = ""; b = ""
    for (n = 1 + int(rand() * 9); n > 0; --n) { w = 1 + int(rand() * 8); a = a from[w] " "; b = to[w] " " b }
    print a > "source"; print b > "target"
  }
}'

# train MPI RANKS THREADS COMPUTE OUT OPTION...: "one" process runs without a launcher.
train() {
  local mpi=$1 ranks=$2 threads=$3 compute=$4 out=$5 launch=()
  shift 5
  [[ $mpi == one ]] || launch=("mpirun.$mpi" -n "$ranks")
  [[ $mpi != openmpi ]] || launch+=(--oversubscribe --mca btl "self,vader")
  timeout 600 "${launch[@]}" "$heed" train --out "$out" --threads "$threads" "$@" >log 2>&1 ||
    { cat log && echo "$mpi $ranks $threads $compute: failed" && exit 1; }
}
settings=(--preset tiny --source source --target target --set vocabulary.size=80 --set distributed.leaves=8
  --set optimizer.name=adam --set optimizer.lr_scheduler_type=inverse_sqrt --set optimizer.warmup_ratio=0
  --set optimizer.warmup_steps=50 --set optimizer.learning_rate=3e-3 --set model.d_model=32 --set model.d_ff=64
  --set run.num_train_epochs=0 --set run.token_budget=1024 --set validation.sentences=8)

failed=0
# compare OUT HOW: prints the run's hash, and fails if it is not the expected one.
compare() {
  local hash
  hash=$(cat "$1/last/model.safetensors" "$1/last/optimizer.safetensors" | sha256sum | cut -c 1-16)
  expected=${expected:-$hash}
  [[ $hash == "$expected" ]] || failed=1
  echo "$2: $hash$([[ $hash == "$expected" ]] || echo ' DIFFERS') (${SECONDS} s)"
  rm -r "$1"
}

for compute in f32 bf16; do
  expected=
  run=(--set run.compute="$compute" --set run.max_steps="$steps")
  for threads in 1 2; do
    SECONDS=0
    train one 1 $threads $compute run "${settings[@]}" "${run[@]}"
    compare run "$compute, 1 rank x $threads threads"
    for mpi in openmpi mpich; do
      for ranks in 2 4 8; do
        SECONDS=0
        train $mpi $ranks $threads $compute run "${settings[@]}" "${run[@]}"
        compare run "$compute, $ranks ranks x $threads threads, $mpi"
      done
    done
  done
  SECONDS=0
  train openmpi 4 1 $compute run "${settings[@]}" --set run.compute=$compute --set run.max_steps=$((steps / 4))
  train mpich 2 1 $compute run --resume --set run.max_steps=$((steps / 2))
  train openmpi 8 1 $compute run --resume --set run.max_steps=$((steps * 3 / 4))
  train one 1 1 $compute run --resume --set run.max_steps="$steps"
  compare run "$compute, resumed on 4, 2, 8 and 1 ranks"
done
exit $failed
