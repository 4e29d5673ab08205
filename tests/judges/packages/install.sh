#!/usr/bin/env bash
# What scripts/release made works in bare Debian 12 systems, in which nothing of it was compiled:
#   - lintian finds no errors and warnings, piuparts no trace of what was removed;
#   - autopkgtest installs the packages and runs debian/tests: programs in C++ and C99, with CMake and pkg-config;
#   - the program of the tarball runs, needs glibc 2.28 at most, and gives the bits of the installed program;
#   - the wheel installs with python3 alone and gives a first token within 15 s, the model being at hand;
#   - libheed.so and the tarball have at most 15 MB, a wheel 12 MB.
#
#   tests/judges/packages/install.sh DIRECTORY MODEL      as root; DIRECTORY of scripts/release, a GGUF file
#
# Needs autopkgtest, debootstrap, lintian and piuparts. The bare system is kept in build/judges/packages.
set -euo pipefail
directory=$(realpath "$1") model=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
source_root=$PWD
bare=$source_root/build/judges/packages/bare
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
cd "$directory"
debs=(*.deb)

heading() { printf '\n== %s\n' "$*"; }
fail() { echo "$*" && exit 1; }

# fresh NAME : a new bare system in $work/NAME.
fresh() {
  if [[ ! -e $bare/complete ]]; then
    rm -rf "$bare"
    mkdir -p "$bare"
    debootstrap --variant=minbase bookworm "$bare" >"$work/debootstrap.log" || { cat "$work/debootstrap.log" && exit 1; }
    touch "$bare/complete"
  fi
  cp -a --reflink=auto "$bare" "$work/$1"
  cp /etc/resolv.conf "$work/$1/etc/"
}
# inside NAME COMMAND... : runs it there, without the environment of this one.
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$work/$1" "${@:2}"
}
# megabytes FILE MOST
small_enough() {
  local bytes
  bytes=$(stat -L -c %s "$1")
  echo "$1: $((bytes / 1000)) kB"
  ((bytes <= $2 * 1000000)) || fail "$1 has $bytes bytes, expected at most $2 MB"
}

heading "lintian"
lintian --allow-root --fail-on error,warning ./*.dsc ./*.changes

heading "Sizes"
for deb in libheed0_*.deb; do dpkg-deb -x "$deb" "$work/libheed0"; done
small_enough "$work"/libheed0/usr/lib/*/libheed.so.0 15
small_enough ./heed-*-linux-x86_64.tar.gz 15
for wheel in *.whl; do small_enough "$wheel" 12; done

heading "autopkgtest"
fresh autopkgtest
autopkgtest --quiet --apt-upgrade "${debs[@]}" ./*.dsc -- chroot "$work/autopkgtest"

heading "piuparts"
fresh piuparts
piuparts --quiet --no-eatmydata --distribution bookworm --existing-chroot "$work/piuparts" "${debs[@]}"

heading "Tarball"
fresh tarball
tar -x -C "$work/tarball/opt" -f ./heed-*-linux-x86_64.tar.gz
program=$(cd "$work/tarball" && echo opt/heed-*/bin/heed)
symbols=$(objdump -T "$work/tarball/$program" | grep -oE 'GLIBC_[0-9.]+' | sort -uV)
echo "symbols of glibc up to $(tail -n 1 <<<"$symbols")"
[[ $(printf '%s\nGLIBC_2.28\n' "$symbols" | sort -V | tail -n 1) == GLIBC_2.28 ]] || fail "needs more than glibc 2.28"
libraries=$(objdump -p "$work/tarball/$program" | awk '/NEEDED/ { print $2 }' | sort | xargs)
[[ $libraries == "ld-linux-x86-64.so.2 libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0" ]] || fail "needs $libraries"
cp "$model" "$work/tarball/model.gguf"
generate=(generate --model /model.gguf --prompt 'Once upon a time' --max-new-tokens 40)
inside tarball "/$program" "${generate[@]}" >"$work/of_tarball"
cp "${debs[@]}" "$work/tarball/tmp"
inside tarball sh -c "apt-get update && apt-get install -y --no-install-recommends /tmp/heed_*.deb" >"$work/apt.log" 2>&1 ||
  { cat "$work/apt.log" && exit 1; }
inside tarball /usr/bin/heed "${generate[@]}" | diff "$work/of_tarball" -
head -n 2 "$work/of_tarball"

heading "Wheel"
fresh wheel
inside wheel sh -c "apt-get update && apt-get install -y --no-install-recommends python3-venv" >"$work/apt.log" 2>&1 ||
  { cat "$work/apt.log" && exit 1; }
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
echo "installed, with numpy's wheel at hand, and gave its first token in $milliseconds ms"
((milliseconds <= 15000)) || fail "expected at most 15 s"
heading "passed"
