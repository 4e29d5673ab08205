#!/usr/bin/env bash
# The README's programs in a project that builds heed itself, without what heed's program and tests
# need. Compiles the whole library.
#
#   fetch_content_test.sh HEED
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../cli/common.sh
source "$here/../cli/common.sh"
# shellcheck source=common.sh
source "$here/common.sh"
make_models

missing=()
for package in CLI11 GTest benchmark; do
  missing+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cmake -S "$source_root/tests/install/consumer" -B consumer -G Ninja -DHEED_SOURCE="$source_root" \
  -DPROGRAMS="$programs" "${missing[@]}" >cmake.log || { cat cmake.log && exit 1; }
if grep -q -e -Werror consumer/build.ninja; then
  echo 'warnings are errors in a project that uses heed' && exit 1
fi
cmake --build consumer >build.log || { cat build.log && exit 1; }
runs_like_heed consumer
