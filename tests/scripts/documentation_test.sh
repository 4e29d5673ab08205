#!/usr/bin/env bash
# The documentation site can be built without a warning, and a link of it that leads nowhere is found. Ends with 77
# where scripts/documentation has not installed its tools.
#
#   documentation_test.sh BUILD
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $1 == "$PWD/build/release" ]] || { echo 'skipped: the site is made of the build in build/release' && exit 77; }
[[ -e build/documentation/complete ]] || { echo 'skipped: scripts/documentation was never run here' && exit 77; }
scripts/documentation

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
printf '<h1 id="here"></h1><a href="#here"></a><a href="a.html#there"></a><a href="b.html"></a>' >"$work/a.html"
if said=$(python3 docs/site/broken_links.py "$work") || [[ $said != *'a.html#there leads nowhere'*'b.html leads nowhere'*'3 links inside the site, 2 broken' ]]; then
  printf 'broken links were not found: %s\n' "$said" && exit 1
fi
echo passed
