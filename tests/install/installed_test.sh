#!/usr/bin/env bash
# The README's programs, built against an installed copy: with find_package, shared and static, and
# with pkg-config.
#
#   installed_test.sh HEED BUILD_DIRECTORY
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../cli/common.sh
source "$here/../cli/common.sh"
# shellcheck source=common.sh
source "$here/common.sh"
build=$2
make_models

# Installed elsewhere than configured: the package must not depend on the prefix.
cmake --install "$build" --prefix "$work/usr" >install.log
"$work/usr/bin/heed" --version >/dev/null
diff -r "$source_root/include/heed" "$work/usr/include/heed"
[[ $(ls usr/include) == heed ]]

cmake -S "$source_root/tests/install/consumer" -B consumer -G Ninja -DCMAKE_PREFIX_PATH="$work/usr" \
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

libraries=$(cd usr && find . -name pkgconfig)
export PKG_CONFIG_PATH=$work/usr/$libraries
mkdir pkg-config
for program in generate translate embed tokenize; do
  package=heed
  [[ $program != tokenize ]] || package=heed-text
  # shellcheck disable=SC2046  # several words
  g++ -std=c++20 -o "pkg-config/$program" "$programs/$program.cc" $(pkg-config --cflags --libs $package)
done
# shellcheck disable=SC2046  # several words
gcc -std=c99 -Wall -Wextra -pedantic -Werror -o pkg-config/tokenize_c "$programs/tokenize.c" \
  $(pkg-config --cflags --libs heed-text)
LD_LIBRARY_PATH=$(dirname "$work/usr/$libraries") runs_like_heed pkg-config
