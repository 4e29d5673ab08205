#!/usr/bin/env bash
# libheed_text.so is small, has nothing of kernels and weights, and needs none of their libraries.
#
#   [STRIP=PROGRAM] text_library_test.sh LIBRARY
set -euo pipefail
library=$1
copy=$(mktemp)
trap 'rm "$copy"' EXIT
"${STRIP:-strip}" -o "$copy" "$library"
bytes=$(stat -c %s "$copy")
((bytes < 3000000)) || { echo "$library has $bytes bytes without symbols, expected less than 3000000" && exit 1; }

# Local names, too. A library without symbols would have nothing to find.
names=$(nm --demangle "$library")
grep -q 'heed::text::' <<<"$names" || { echo "$library has no symbols" && exit 1; }
foreign=$(grep -E 'heed::((kernels|ops|nn|model|quantize|checkpoint|data|generate|engine|hub)::|(Tensor|Shape|Parameter)\b|io::(GgufFile|Safetensors|TensorSource))|hwy::' <<<"$names" || true)
[[ -z $foreign ]] || { printf '%s holds:\n%s\n' "$library" "$foreign" && exit 1; }
if readelf --dynamic "$library" | grep -E 'NEEDED.*(hwy|curl|crypto|heed)'; then
  echo "$library needs more than text does" && exit 1
fi
