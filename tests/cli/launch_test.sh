#!/usr/bin/env bash
# heed launch: a run whose ranks are killed, or whose host is gone, ends with the bits of one that ran through; errors
# that would come again are not tried again. The launcher is a script that starts one process, so MPI is not needed.
#
#   launch_test.sh HEED
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for i in $(seq 60); do echo "the $i sheep went in"; done >a.txt
sed 's/went in/came out/' a.txt >b.txt
train=(train --preset tiny --threads 1 --source a.txt --target b.txt --set vocabulary.size=60 --set run.max_steps=60
       --set run.num_train_epochs=0 --set validation.sentences=2 --set validation.eval_steps=5)
"$heed" "${train[@]}" --set distributed.leaves=4 --out whole >log 2>&1

# The launcher notes what it is asked for. Hosts that are named in the file `down` cannot start anything. Each
# line of the file `kills` lets it kill once the process that it has started, after the first checkpoint.
cat >launcher <<'END'
#!/bin/sh
ranks=$1 hosts=$2
shift 2
for host in $(echo "$hosts" | tr , ' '); do
  if grep -qx "${host%:*}" down; then exit 255; fi
done
[ "$1" = true ] || echo "$ranks $hosts $*" | sed "s/--source.*--out/--out/" >>started
if [ "$1" = true ] || [ ! -s kills ]; then exec "$@"; fi
sed -i 1d kills
if [ -e goes-down ]; then mv goes-down down; fi
"$@" &
process=$!
trap 'kill -USR1 $process' USR1
until [ -e run/last/training.json ]; do sleep 0.05; done
sleep 0.2
kill -KILL $process
exit 1
END
chmod +x launcher
: >down

# launch RESTARTS HOSTS OPTION...
launch() {
  local restarts=$1 hosts=$2
  shift 2
  rm -rf run started
  timeout 100 "$heed" launch --hosts "$hosts" --restarts "$restarts" --launcher './launcher {ranks} {hosts}' -- \
    "${train[@]}" --set distributed.leaves=4 --out run "$@" >out 2>err
}
unexpected() { echo "$1" && cat err started && exit 1; }

# Two kills, and a host that is gone from the first one on.
printf '1\n2\n' >kills
echo b >goes-down
launch 2 a:2,b,c || unexpected 'the run is not continued'
for file in model optimizer; do cmp "run/last/$file.safetensors" "whole/last/$file.safetensors"; done
[[ $(grep -c . started) == 3 ]] || unexpected 'expected three starts'
grep -qE '^4 a:2,b,c .* --out run$' started || unexpected 'the first start'
grep -qE '^2 a:2,c .* --out run --resume$' started || unexpected 'a restart on the hosts that are left'
for i in 1 2; do
  grep -qE "^heed: restart $i of 2: from step [0-9]+, 2 ranks on a:2,c, without b\$" err || unexpected "no line of restart $i"
done
: >down

# More hosts than leaves: a restart has as many ranks as the run has leaves.
echo 1 >kills
launch 1 a:4,b:4 || unexpected 'the run is not continued on fewer ranks'
grep -qE '^8 a:4,b:4 ' started && grep -qE '^4 a:4,b:4 .*--resume$' started || unexpected 'ranks of a restart'

# There is an end to restarts. --resume continues the run.
printf '1\n2\n' >kills
if launch 1 a; then unexpected 'status 0 after too many kills'; fi
grep -qE '^heed: error: the run was lost: ".*" ended with status 1; --resume continues it from step [0-9]+$' err ||
  unexpected 'no word of the checkpoint'

# What would fail again is not tried again; nor is a host that is missing from the beginning.
if launch 3 a --set model.d_model=7; then unexpected 'status 0 with a wrong configuration'; fi
[[ $(grep -c 'heed: error' err) == 1 && $(grep -c . started) == 1 ]] || unexpected 'expected one start and one error'
echo b >down
if launch 3 a,b; then unexpected 'status 0 without a host'; fi
grep -qxF 'heed: error: host "b" cannot be used: "./launcher 1 b true" failed' err || unexpected 'expected an error'
[[ ! -e started ]]
: >down

# Ctrl-C saves a checkpoint.
launch 3 a --set run.max_steps=1000000 & run=$!
for _ in $(seq 300); do
  [[ ! -e run/last/training.json ]] || break
  sleep 0.1
done
kill -INT "$(pgrep -f "^$heed launch --hosts a --restarts 3 --launcher ./launcher .*max_steps=1000000")"
wait $run || unexpected 'status 1 after a request to stop'
grep -q 'stopped at step .*; continue with --resume' err || unexpected 'the run was not stopped'

# A launcher that waits for ever after a rank has reported its end is ended.
cat >launcher <<'END'
#!/bin/sh
shift 2
[ "$1" = true ] && exit 0
echo 'heed: error: rank 1 (host b) did not arrive within 5 s, at step 7; last checkpoint: step 5' >&2
sleep 1000
END
begin=$SECONDS
if launch 0 a,b; then unexpected 'status 0 with a missing rank'; fi
((SECONDS - begin < 30)) || unexpected 'a launcher that waits is not ended'
[[ $(grep -c 'heed: error' err) == 1 ]] || unexpected 'expected one error'

# So is one that waits for ever after rank 0 was killed, which nobody reports.
cat >launcher <<'END'
#!/bin/sh
shift 2
[ "$1" = true ] && exit 0
"$@" &
process=$!
until [ -e run/last/training.json ]; do sleep 0.05; done
sleep 6
kill -KILL $process
sleep 1000
END
if launch 0 a,b --set run.max_steps=1000000; then unexpected 'status 0 with a killed rank'; fi
grep -qE '^heed: error: the run was lost: ".*" ended with status 137; --resume continues it from step [0-9]+$' err ||
  unexpected 'no word of the checkpoint'

misused '"a:x" is no host, expected NAME or NAME:RANKS with up to 4096 ranks' "$heed" launch --hosts a:x -- train --out run
misused 'the command has no --out, which says where the checkpoints are' "$heed" launch --hosts a -- train
misused '"translate" cannot be launched, expected train' "$heed" launch --hosts a -- translate
misused '--launcher has no {hosts}' "$heed" launch --hosts a --launcher 'mpirun {ranks}' -- train --out run
