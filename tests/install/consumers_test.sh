#!/usr/bin/env bash
# Programs built against an installed copy of heed print what heed prints: those of README.md with find_package,
# shared and static, and with pkg-config, and that of docs/c.md in C99.
#
#   consumers_test.sh HEED PREFIX
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../cli/common.sh
source "$here/../cli/common.sh"
# shellcheck source=common.sh
source "$here/common.sh"
prefix=$2
make_models

cmake -S "$source_root/tests/install/consumer" -B consumer -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DPROGRAMS="$programs" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Wconversion -Werror' >cmake.log ||
  { cat cmake.log && exit 1; }
cmake --build consumer >build.log || { cat build.log && exit 1; }
runs_like_heed consumer
for program in tokenize tokenize_c; do
  if ldd "consumer/$program" | grep -F libheed.so; then
    echo "$program, which uses heed::text, needs libheed.so" && exit 1
  fi
done
if ldd consumer/translate_static | grep libheed; then
  echo 'translate_static uses the shared library' && exit 1
fi

libraries=$(dirname "$(find "$prefix/lib" -name heed.pc)")/..
export PKG_CONFIG_PATH=$libraries/pkgconfig
mkdir pkg-config c99
for program in generate translate embed tokenize; do
  package=heed
  [[ $program != tokenize ]] || package=heed-text
  # shellcheck disable=SC2046  # several words
  g++ -std=c++20 -o "pkg-config/$program" "$programs/$program.cc" $(pkg-config --cflags --libs $package)
done
# shellcheck disable=SC2046  # several words
gcc -std=c99 -pedantic -Wall -Wextra -Werror -o pkg-config/tokenize_c "$programs/tokenize.c" \
  $(pkg-config --cflags --libs heed-text)
LD_LIBRARY_PATH=$libraries runs_like_heed pkg-config

# shellcheck disable=SC2046  # several words
gcc -std=c99 -pedantic -Wall -Wextra -Werror -o c99/generate "$programs/generate.c" $(pkg-config --cflags --libs heed)
LD_LIBRARY_PATH=$libraries c99/generate causal-lm >out
"$heed" generate --model causal-lm --prompt "Once upon a time" 2>/dev/null | head -c -1 | diff - out
