#!/usr/bin/env bash
# Runs heed train under Slurm: munged, slurmctld and slurmd of this judge alone, on the loopback interface. Four ranks
# started by srun leave the bits of one process; so does deploy/slurm/train.sbatch when a rank is killed, when Slurm
# requeues the job, and when its time is almost over. As root:
#
#   slurm.sh HEED [pmix|pmi2]
#
# pmix is for Open MPI, pmi2 for MPICH.
set -euo pipefail
heed=$(realpath "$1") mpi=${2:-pmix}
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
for program in munged slurmctld slurmd srun sbatch; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed" && exit 77; }
done
work=$(mktemp -d /tmp/slurm.XXXX)
daemons=()
end_all() {
  scancel --full -u root 2>/dev/null || true
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -r "$work"
}
trap end_all EXIT
cd "$work"
mkdir state spool run
node=$(hostname -s)
cat >slurm.conf <<END
ClusterName=heed
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=27817
SlurmdPort=27818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
dd if=/dev/urandom of=munge.key bs=1 count=128 2>/dev/null
chmod 600 munge.key
chmod 755 "$work" run
munged --foreground --force --key-file="$work/munge.key" --socket="$work/run/munge.socket" \
  --pid-file="$work/run/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed" 2>munged.err & daemons+=($!)
for _ in $(seq 50); do [[ ! -S run/munge.socket ]] || break; sleep 0.1; done
slurmctld -D -i 2>/dev/null & daemons+=($!)
slurmd -D 2>/dev/null & daemons+=($!)
failed() { echo "FAILED: $*" && tail -n 30 log slurmctld.log slurmd.log ./*.out 2>/dev/null; exit 1; }
for _ in $(seq 100); do [[ $(sinfo -h -o %t 2>/dev/null) != idle ]] || break; sleep 0.2; done
[[ $(sinfo -h -o %t) == idle ]] || failed 'the node is not idle'

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
sed 's/went in/came out/' a.txt >b.txt
options=(--preset tiny --threads 1 --source "$work/a.txt" --target "$work/b.txt" --set vocabulary.size=60
         --set run.max_steps=300 --set run.num_train_epochs=0 --set validation.sentences=4 --set validation.eval_steps=20
         --set distributed.leaves=4 --set distributed.timeout=10)
"$heed" train "${options[@]}" --out uninterrupted >log 2>&1 || failed 'one process'
same_weights() {
  for file in model optimizer; do
    cmp "$1/last/$file.safetensors" "uninterrupted/last/$file.safetensors" || failed "$1: other bits"
  done
}

timeout 120 srun --mpi="$mpi" -n 4 "$heed" train "${options[@]}" --out srun >log 2>&1 || failed 'srun'
grep -q 'ranks: 4, which share 4 microbatches' log || failed 'not four ranks'
same_weights srun
echo "ok: srun --mpi=$mpi, four ranks"

export HEED=$heed HEED_SLURM_MPI=$mpi
# submit NAME: the number of a job that has a checkpoint.
submit() {
  job=$(sbatch --parsable --nodes=1 --ntasks-per-node=4 --output="$1.out" "$repository/deploy/slurm/train.sbatch" \
    "${options[@]}" --out "$work/$1")
  for _ in $(seq 300); do [[ ! -e $1/last/training.json ]] || return 0; sleep 0.1; done
  failed "$1: there is no checkpoint after 30 s"
}
# resumed NAME WHAT: the job ends well, after it has been started a second time.
resumed() {
  local begin=$SECONDS state
  while state=$(squeue -h -j "$job" -o %T 2>/dev/null) && [[ -n $state ]] && ((SECONDS - begin < 120)); do
    # Slurm waits two minutes before it starts a job again, by which time its last processes have ended.
    [[ $state != PENDING ]] || pgrep -f "slurmstepd: \\[$job\\." >/dev/null || scontrol update JobId="$job" StartTime=now 2>/dev/null || true
    sleep 1
  done
  scontrol show job "$job" >job
  grep -q 'JobState=COMPLETED' job && grep -q 'Restarts=1' job || { cat job && failed "$2"; }
  same_weights "$1"
  echo "ok: $2, the same bits"
}
submit killed
kill -KILL "$(pgrep -f "^$heed train .*--out $work/killed" | tail -n 1)"
resumed killed 'a rank is killed'
submit requeued
scontrol requeue "$job"
resumed requeued 'Slurm requeues the job'
submit late
scancel --batch --signal=USR1 "$job"
resumed late 'the time of the job is almost over'
grep -q 'stopped at step .*; continue with --resume' late.out || failed 'the ranks did not stop by themselves'
