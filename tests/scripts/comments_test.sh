#!/usr/bin/env bash
# Each public declaration of C++ and C has a comment, and Doxygen understands all of them. Ends with 77 where
# Doxygen is not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v doxygen >/dev/null || { echo 'skipped: doxygen is not installed' && exit 77; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp -r --parents include docs/site "$work"
cd "$work"

# warnings HEADERS : what Doxygen says of a header or a folder.
warnings() { printf '%s\n' "$(<docs/site/Doxyfile)" 'OUTPUT_DIRECTORY = xml' "INPUT = $1" | doxygen - 2>&1; }

mkdir xml
warnings include/heed

# Whether it would say so.
for declaration in 'fork.h:namespace heed { void missing(); }' 'c_train.h:void missing(void);' \
  'c_train.h:/* A comment. */ typedef struct heed_pair {\n  int missing;\n} heed_pair;'; do
  header=include/heed/${declaration%%:*}
  cp "$header" kept
  sed -i "\$a ${declaration#*:}" "$header"
  if said=$(warnings "$header") || [[ $said != *missing*'is not documented'* ]]; then
    printf 'not found to be without a comment: %s\n%s\n' "$declaration" "$said" && exit 1
  fi
  cp kept "$header"
done
echo passed
