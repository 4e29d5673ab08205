#!/usr/bin/env bash
# The program, or the Python module, on a processor of x86-64-v2 (Nehalem, by qemu): the same text is generated as
# here, and embeddings have the bits of the same instructions here.
#
#   old_processor_test.sh HEED [PYTHON]    PYTHON: with the module, which is tested instead of the program
#
# Ends with 77 where qemu-user or PYTHON is missing.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../cli/common.sh
source "$here/../cli/common.sh"
qemu=(qemu-x86_64 -cpu Nehalem)
command -v "${qemu[0]}" >/dev/null || { echo 'skipped: qemu-user is not installed' && exit 77; }

cat >generate.py <<'END'
import heed
for weights in (None, "q4_0"):
    model = heed.load("decoder", random_weights=1, weights=weights)
    print(model.generate("the old ship went out", max_new_tokens=20).text)
END
cat >embed.py <<'END'
import heed
for compute in ("f32", "int8"):
    model = heed.load("encoder", random_weights=1, compute=compute)
    print(model.embed(["the old ship went out", "to sea"]).tolist())
END

# generates COMMAND..., embeds COMMAND... : what the program or Python prints.
generates() {
  "$@" generate "${decoder[@]}" --prompt 'the old ship went out' --max-new-tokens 20
  "$@" generate "${decoder[@]}" --weights q4_0 --prompt 'the old ship went out' --max-new-tokens 20
}
embeds() {
  printf 'the old ship went out\nto sea\n' >lines
  "$@" embed "${encoder[@]}" --compute f32 <lines
  "$@" embed "${encoder[@]}" --compute int8 <lines
}
command=("$heed")
if [[ $# == 2 ]]; then
  command=("$2")
  [[ -x $2 ]] && "$2" -c 'import heed' || { echo "skipped: $2 has no module heed" && exit 77; }
  generates() { "$@" generate.py; }
  embeds() { "$@" embed.py; }
fi

generates "${command[@]}" >here
generates "${qemu[@]}" "${command[@]}" >there
diff here there
[[ $(wc -w <here) -gt 10 ]] || { echo 'nothing was generated' && exit 1; }
# The module returns embeddings as arrays, and numpy 2.4 ends on a Nehalem with an illegal instruction.
if [[ $# == 2 ]] && ! "${qemu[@]}" "$2" -c 'import numpy' 2>/dev/null; then
  echo 'embeddings are not compared: numpy does not run on this processor' && exit
fi
HEED_CPU=baseline embeds "${command[@]}" >here
embeds "${qemu[@]}" "${command[@]}" >there
diff here there
[[ $(wc -c <here) -gt 1000 ]] || { echo 'nothing was embedded' && exit 1; }
