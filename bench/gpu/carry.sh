#!/bin/sh
# Collects what bench/gpu/queue.sh runs in one directory: programs of a build, stripped, and the
# shared libraries that they need beside the C library, so that they run on another x86-64 machine.
#   bench/gpu/carry.sh BUILD DIRECTORY
set -eu
build=$1
directory=$2
mkdir -p "$directory/lib"
# "FILE NAME" of each program; those that were not built are left out.
for program in heed tests/op_cases_test bench/gpu/gpu_probes bench/gpu/gpu_kernels_bench; do
  if [ ! -x "$build/$program" ]; then
    echo "$0: $build/$program has not been built" >&2
    continue
  fi
  name=$(basename "$program")
  strip -o "$directory/$name" "$build/$program"
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread)\.so|/ld-linux' | while read -r library; do
      target=$directory/lib/$(basename "$library")
      [ -e "$target" ] || strip --strip-unneeded -o "$target" "$library"
    done
done
(cd "$(dirname "$0")" && git describe --always --dirty 2> /dev/null || echo unknown) > "$directory/tree"
du -sm "$directory"
