# Sourced: starts ranks, or skips the test where that is not possible.
# shellcheck shell=bash
#
#   $mpi                        openmpi or mpich, the test's second argument
#   "${launch[@]}" -n RANKS PROGRAM...
#   error_is PATTERN            one line of the file `log` is an error, and it has the pattern
#   errors PATTERN COMMAND...   the command fails with such a line
#   wait_for_failure PID        a command that was started before fails
#   process_of RANK PATTERN     the process of a rank whose command line fits PATTERN
# shellcheck source=../cli/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/common.sh"
mpi=$2
skip() { echo "skipped: $*" && exit 77; }
[[ -x $(command -v "mpirun.$mpi") ]] || skip "mpirun.$mpi is not installed"
[[ -e $(dirname "$heed")/heed-mpi-$mpi.so ]] || skip "heed was built without $mpi"
launch=("mpirun.$mpi")
if [[ $mpi == openmpi ]]; then
  launch+=(--oversubscribe --mca btl self,vader --mca odls_base_sigkill_timeout 2)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Launchers write lines of their own.
error_is() {
  [[ $(grep -ac 'heed: error' log) == 1 ]] && grep -aqE "heed: error: $1" log ||
    { echo "expected one: $1" && cat log && exit 1; }
}

errors() {
  local pattern=$1
  shift
  ! "$@" >out 2>log || { echo "$*: did not fail" && exit 1; }
  error_is "$pattern"
}

wait_for_failure() {
  ! wait "$1" || { echo 'the ranks did not fail' && cat log && exit 1; }
}

process_of() {
  local pid
  for pid in $(pgrep -f "$2"); do
    if tr '\0' '\n' <"/proc/$pid/environ" | grep -qE "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1$"; then echo "$pid"; fi
  done
}
