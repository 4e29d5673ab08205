# Sourced by the judges of runs on several hosts: hosts, a text, and runs of heed train on it.
# shellcheck shell=bash disable=SC2034  # variables of the judges
#
#   JUDGE HEED openmpi|mpich
set -euo pipefail
heed=$(realpath "$1")
mpi=${2:-openmpi}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/hosts.sh"
work=$(mktemp -d)
trap 'hosts_down; umount "$work"/* 2>/dev/null || true; rm -r "$work"' EXIT
cd "$work"
ulimit -c 0

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
sed 's/went in/came out/' a.txt >b.txt
deadline=5  # seconds
train=(train --preset tiny --threads 1 --source "$work/a.txt" --target "$work/b.txt" --set vocabulary.size=60
       --set validation.sentences=4 --set validation.eval_steps=20 --set run.num_train_epochs=0
       --set distributed.timeout=$deadline --set distributed.leaves=4)

# The hosts are processes of one machine: only TCP may join them.
case $mpi in
  openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    options="--mca plm_rsh_agent $agent --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0"
    launcher="mpirun.openmpi $options -n {ranks} --host {hosts}"
    ;;
  mpich)
    export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
    launcher="mpirun.mpich -launcher rsh -launcher-exec $agent -iface eth0 -n {ranks} -hosts {hosts}"
    ;;
esac

# launch RESTARTS HOSTS OUT OPTION...: a supervised run, started on host a. Its output is in the file `log`.
launch() {
  local restarts=$1 on=$2 out=$3
  shift 3
  on_host a timeout 300 "$heed" launch --hosts "$on" --restarts "$restarts" --launcher "$launcher" -- \
    "${train[@]}" --out "$work/$out" "$@" >log 2>&1
}

# rank_on HOST: the id of the process of a rank there.
rank_on() {
  local pid
  for pid in $(processes_on "$1"); do
    if [[ $(readlink "/proc/$pid/exe") == "$heed" ]] && ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q ' launch '; then
      echo "$pid"
    fi
  done
}

# ranks_left: how many ranks run on all hosts.
ranks_left() { for host in "${hosts[@]}"; do rank_on "$host"; done | wc -l; }

failed() { echo "FAILED: $*" && cat log && exit 1; }

# one_error PATTERN: the log has one line with an error, which has the pattern.
one_error() {
  [[ $(grep -ac 'heed: error' log) == 1 ]] && grep -aqE "heed: error: $1" log || failed "expected one error: $1"
}
# same_weights OUT: the final weights and moments are those of the uninterrupted run.
same_weights() {
  cmp "$1/last/model.safetensors" uninterrupted/last/model.safetensors || failed "other weights"
  cmp "$1/last/optimizer.safetensors" uninterrupted/last/optimizer.safetensors || failed "other moments"
}
# wait_for_checkpoint OUT
wait_for_checkpoint() {
  for _ in $(seq 600); do
    [[ ! -e $1/last/training.json ]] || return 0
    sleep 0.1
  done
  failed "there is no checkpoint after 60 s"
}
