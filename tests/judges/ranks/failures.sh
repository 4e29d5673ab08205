#!/usr/bin/env bash
# Failures of hosts, ranks, disks and settings in runs on four hosts (hosts.sh): what is lost is named in one line, all
# ranks end, and a run that was restarted has the bits of one that was not. As root:
#
#   failures.sh HEED openmpi|mpich
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
hosts_up 1gbit a b c d
all=a,b,c,d
missing="rank 2 \(host c\) (did not arrive within $deadline s|does not answer any more), at step [0-9]+; last checkpoint: step [0-9]+"

# ended_in SECONDS NAME: the run in the background ends within these from now on, and so does every rank.
ended_in() {
  local begin=$SECONDS
  ! wait "$run" || failed "$2: status 0"
  while (($(ranks_left) > 0 && SECONDS - begin <= $1)); do sleep 0.2; done
  ((SECONDS - begin <= $1 && $(ranks_left) == 0)) || failed "$2: $(ranks_left) ranks are left after $((SECONDS - begin)) s"
  echo "ok: $2, $((SECONDS - begin)) s"
}
# begin NAME RESTARTS OPTION...: a run in the background that has a checkpoint.
begin() {
  local out=$1 restarts=$2
  shift 2
  launch "$restarts" $all "$out" "$@" & run=$!
  wait_for_checkpoint "$out"
}
long=(--set run.max_steps=1000000)
short=(--set run.max_steps=300)

"$heed" "${train[@]}" --out "$work/uninterrupted" "${short[@]}" >log 2>&1 || failed "uninterrupted"

# heed launch gives a launcher that waits for a lost host 10 s after the error.
begin link 0 "${long[@]}"
set_link c down
ended_in $((deadline + 5 + 10)) 'a link is down'
one_error "$missing"
set_link c up
for pid in $(processes_on c); do kill -KILL "$pid" 2>/dev/null || true; done

begin stopped 0 "${long[@]}"
kill -STOP "$(rank_on c)"
ended_in $((deadline + 5 + 10)) 'a rank is stopped'
one_error "$missing"

begin killed 0 "${long[@]}"
kill -KILL "$(rank_on c)"
ended_in $((deadline + 5)) 'a rank is killed'
one_error "($missing|the run was lost: .* ended with status [0-9]+; --resume continues it from step [0-9]+)"

begin blip 0 "${short[@]}" --set distributed.timeout=60
set_link c down
sleep 10
set_link c up
wait "$run" || failed 'a link that is down for 10 s'
same_weights blip
echo 'ok: a link that is down for 10 s is survived'

begin gone 2 "${short[@]}"
set_link c down
wait "$run" || failed 'a host that is gone'
grep -aqE 'heed: restart 1 of 2: from step [0-9]+, 2 ranks on a,b,d, without c' log || failed 'no line of the restart'
same_weights gone
echo 'ok: a host is gone, two ranks go on to the same bits'
set_link c up

begin told 1 "${long[@]}"
kill -TERM "$(pgrep -f "^$heed launch .*--out $work/told ")"
wait "$run" || failed 'a request to stop'
grep -aq 'stopped at step .*; continue with --resume' log || failed 'not stopped'
echo 'ok: a request to stop saves a checkpoint'

mkdir full
mount -t tmpfs -o size=6m tmpfs full
launch 2 $all full/run "${long[@]}" & run=$!
ended_in 60 'the disk of rank 0 is full'
one_error '.*No space left on device'
! grep -aq 'heed: restart' log || failed 'restarted'
umount full

! launch 2 a,b,nosuch,d absent "${long[@]}" || failed 'status 0'
one_error 'host "nosuch" cannot be used'
echo 'ok: a host name that does not resolve'

# run_with OPTION..., a run that ends at once with one error and restarts nothing.
refused() {
  local name=$1 error=$2
  shift 2
  ! launch 2 $all "refused-$RANDOM" "${short[@]}" "$@" || failed "$name: status 0"
  one_error "$error"
  ! grep -aq 'heed: restart' log || failed 'restarted'
  (($(ranks_left) == 0)) || failed "$name: ranks are left"
  echo "ok: $name"
}
refused 'more ranks than microbatches' 'the run has 4 ranks, but its steps have 2 microbatches' --set distributed.leaves=2
refused 'microbatches that are no power of two' '.*distributed.leaves' --set distributed.leaves=6

# on_start HOST COMMAND: a command with which everything begins on a host.
sed 's/7/8/' a.txt >other.txt
on_start c "mount --bind $work/other.txt $work/a.txt"
refused 'a host with another text' 'rank 2 \(host c\) has another training text than rank 0'
cp "$heed" other-heed
echo >>other-heed
on_start c "mount --bind $work/other-heed $heed"
refused 'a host with another build' 'rank 2 \(host c\) has another build of heed than rank 0'
case $mpi in
  openmpi) # whose daemon sets the variables of a rank after on_start: a script takes the place of heed
    mkdir of-mpich
    cp "$heed" "$(dirname "$heed")"/heed-mpi-*.so of-mpich
    cat >script <<END
#!/bin/sh
unset OMPI_COMM_WORLD_RANK PMIX_RANK
PMI_RANK=2 PMI_SIZE=4 exec $work/of-mpich/heed "\$@"
END
    chmod +x script
    on_start c "mount --bind $work/script $heed"
    ;;
  mpich) on_start c 'export OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4' ;;
esac
refused 'a rank that another MPI library has started' 'the launcher has started 4 processes, but .* has joined 1'
