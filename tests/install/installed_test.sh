#!/usr/bin/env bash
# What is installed works elsewhere than where it was configured for: the headers, and programs built against them.
#
#   installed_test.sh HEED BUILD_DIRECTORY
set -euo pipefail
heed=$1 build=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(mktemp -d)
trap 'rm -r "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >"$prefix/install.log"
"$prefix/bin/heed" --version >/dev/null
diff -r "$here/../../include/heed" "$prefix/include/heed"
[[ $(ls "$prefix/include") == heed ]]
for command in $("$heed" --help | sed -n '/^Options:/q; s/^  \([a-z][a-z-]*\) .*/\1/p'); do
  grep -qF "heed ${command//-/\\-}" "$prefix/share/man/man1/heed-$command.1" # roff escapes hyphens
  grep -q "heed $command" "$prefix/share/bash-completion/completions/heed"
done
"$here/consumers_test.sh" "$heed" "$prefix"
