#!/usr/bin/env bash
# What scripts/release made works in bare Debian 12 systems, in which nothing of it was compiled:
#   - lint: lintian finds no errors and warnings; libheed.so and the tarball have at most 15 MB, a wheel 12 MB;
#   - packages: autopkgtest installs the packages and runs debian/tests (the program; programs in C++ and C99, with
#     CMake and pkg-config; Python), and piuparts finds no trace of what was removed;
#   - tarball: the program runs, needs glibc 2.28 at most, prints what the installed program prints, and trains on two
#     ranks with a plug-in for MPI that is compiled there;
#   - wheel: it installs with python3 alone and gives a first token within 15 s, numpy's wheel and a model being at hand.
#
#   tests/judges/packages/install.sh DIRECTORY MODEL [lint|packages|tarball|wheel]...
#
# DIRECTORY is that of scripts/release, MODEL a GGUF file. As root. Needs autopkgtest, debootstrap, lintian and
# piuparts. The bare system is kept in build/judges/packages.
set -euo pipefail
directory=$(realpath "$1") model=$(realpath "$2")
parts=("${@:3}")
((${#parts[@]})) || parts=(lint packages tarball wheel)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
bare=$root/build/judges/packages/bare
work=$(mktemp -d)
trap 'umount --quiet "$work"/*/{proc,dev/pts,dev} || true; rm -rf --one-file-system "$work"' EXIT
cd "$directory"
debs=(./*.deb)

fail() { echo "$*" && exit 1; }

# logged COMMAND... : its output is shown if it fails.
logged() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }; }

# fresh NAME : a new bare system in $work/NAME.
fresh() {
  if [[ ! -e $bare/complete ]]; then
    rm -rf "$bare"
    mkdir -p "$bare"
    logged debootstrap --variant=minbase bookworm "$bare"
    touch "$bare/complete"
  fi
  cp -a --reflink=auto "$bare" "$work/$1"
  cp /etc/resolv.conf "$work/$1/etc/"
}

# mounted NAME : with the system's devices and processes.
mounted() {
  mount -t proc proc "$work/$1/proc"
  mount --bind /dev "$work/$1/dev"
  mount --bind /dev/pts "$work/$1/dev/pts"
}

# inside NAME COMMAND... : runs it there, without the environment of this one.
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$work/$1" "${@:2}"
}

# small_enough FILE MEGABYTES
small_enough() {
  local bytes
  bytes=$(stat -L -c %s "$1")
  echo "${1##*/}: $((bytes / 1000)) kB, at most $2 MB"
  ((bytes <= $2 * 1000000)) || fail "too large"
}

judge_lint() {
  lintian --allow-root --fail-on error,warning ./*.dsc ./*.changes
  dpkg-deb -x ./libheed0_*.deb "$work/libheed0"
  small_enough "$work"/libheed0/usr/lib/*/libheed.so.0 15
  small_enough ./heed-*-linux-x86_64.tar.gz 15
  local wheel
  for wheel in ./*.whl; do small_enough "$wheel" 12; done
}

judge_packages() {
  fresh autopkgtest
  mounted autopkgtest
  autopkgtest "${debs[@]}" ./*.dsc -- chroot "$work/autopkgtest"
  fresh piuparts
  logged piuparts --no-eatmydata --distribution bookworm --existing-chroot "$work/piuparts" "${debs[@]}"
}

judge_tarball() {
  fresh tarball
  mounted tarball
  tar -x -C "$work/tarball/opt" -f ./heed-*-linux-x86_64.tar.gz
  local program libraries generate=(generate --model /model.gguf --prompt 'Once upon a time' --max-new-tokens 40)
  program=$(cd "$work/tarball" && echo opt/heed-*/bin/heed)
  objdump -T "$work/tarball/$program" | grep -oE 'GLIBC_[0-9.]+' | sort -uV >"$work/symbols"
  echo "symbols of glibc up to $(tail -n 1 "$work/symbols")"
  [[ $(echo GLIBC_2.28 | sort -V - "$work/symbols" | tail -n 1) == GLIBC_2.28 ]] || fail "needs more than glibc 2.28"
  libraries=$(objdump -p "$work/tarball/$program" | awk '/NEEDED/ { print $2 }' | sort | xargs)
  [[ $libraries == "ld-linux-x86-64.so.2 libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0" ]] || fail "needs $libraries"
  cp "$model" "$work/tarball/model.gguf"
  inside tarball "/$program" "${generate[@]}" >"$work/of_tarball"
  cp "${debs[@]}" "$work/tarball/tmp"
  logged inside tarball sh -c "apt-get update && apt-get install -y --no-install-recommends /tmp/heed_*.deb"
  inside tarball /usr/bin/heed "${generate[@]}" | diff "$work/of_tarball" -
  # The plug-in for MPI, compiled by the command of docs/cluster.md.
  logged inside tarball apt-get install -y --no-install-recommends g++ libopenmpi-dev openmpi-bin
  logged inside tarball sh -ec "cd /opt/heed-*/ && $(grep ^mpicxx "$root/docs/cluster.md")
    seq -f 'the %g sheep went in' 60 >/sheep.txt
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --oversubscribe -n 2 bin/heed train --task causal-lm --text /sheep.txt --out /model --threads 1 \\
      --set run.max_steps=2 --set vocabulary.size=300"
  grep 'ranks: 2' "$work/log" || fail "the program of the tarball does not train on two ranks"
}

judge_wheel() {
  local begin milliseconds
  fresh wheel
  mounted wheel
  logged inside wheel sh -c "apt-get update && apt-get install -y --no-install-recommends python3-venv"
  mkdir "$work/wheel/wheels"
  cp ./*.whl "$work/wheel/wheels"
  python3 -m pip download -q --only-binary :all: --python-version 3.11 --no-deps -d "$work/wheel/wheels" numpy
  cp "$model" "$work/wheel/model.gguf"
  inside wheel python3 -m venv /venv
  begin=$(date +%s%N)
  inside wheel /venv/bin/pip install -q --no-index --find-links /wheels heed
  inside wheel /venv/bin/python -c "import heed
print(heed.load('/model.gguf').generate('Once upon a time', max_new_tokens=1).text)"
  milliseconds=$((($(date +%s%N) - begin) / 1000000))
  echo "installed and gave its first token in $milliseconds ms, at most 15 s"
  ((milliseconds <= 15000)) || fail "too slow"
}

for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  "judge_$part"
done
echo passed
