#!/usr/bin/env bash
# scripts/parallel_bible, fed by a stand-in for diatheke with the oddities of the real modules.
# shellcheck disable=SC1112  # the texts' quotation marks are meant
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

mkdir "$work/bin"
cat >"$work/bin/diatheke" <<'END'
#!/bin/bash
# Sixty chapters of filler, so that every split gets verses; then what is tested.
filler() { for ((i = 1; i <= 300; ++i)); do printf 'Genesis %d:2: <w savlm="x">%s</w> %d.\n' "$i" "$1" "$i"; done; }
case "$*" in
  *modulelist*) printf 'Biblical Texts:\n  engKJV1 : King James\nengWEB1 : World\nspaRV1909x : Reina\n' ;;
  *engKJV1*)
    filler 'Thou art number'
    cat <<'VERSES'
John 3:1: <q marker="">¶ <w savlm="strong:G1">There</w> was a man:</q>  <div eID="a" type="x-p"/>
John 3:2: I am the \nd <w>LORD</w>, which <w>give</w>n hath.
John 3:3: This verse is only here.
VERSES
    ;;
  *engWEB1*)
    filler 'You are number'
    cat <<'VERSES'
<title type="psalm">A Psalm 3:1: by David.</title> <lg sID="g"/> <l level="1" sID="h"/>John 3:1: <w>There</w>  was<note n="1">Or, is</note><w>a</w> man,<l eID="h"/> <l sID="i"/>‘Yes
  indeed<note></note>’.
John 3:2: I am Yahweh, who has given. <chapter eID="John.3"/> The end of the chapter.
John 3:3:  <note>Some leave it out</note>
VERSES
    ;;
  *spaRV1909x*)
    filler 'Tú eres número'
    cat <<'VERSES'
John 3:1: Y HABÍA un hombre<transChange>sí</transChange>, <w>allM</w><transChange type="added">un</transChange> <w>él</w>. Amén. Fué escrita de Roma.
John 3:2: Yo <transChange>soy</transChange> Jehová, había dado.
Numbers 13:1: Mal numerado.
VERSES
    ;;
esac
[[ $* == *modulelist* ]] || echo "(engXXX1)"
END
chmod +x "$work/bin/diatheke"
PATH=$work/bin:$PATH

# has FILE... LINE : one of the splits holds the line
has() {
  local line=${!#}
  grep -qxF "$line" "${@:1:$#-1}" || {
    echo "not in ${*:1:$#-1}: $line" && grep -h -A1 -B1 'man\|LORD\|hombre' "${@:1:$#-1}"
    exit 1
  }
}

"$root/scripts/parallel_bible" kjv-web "$work/kw" | tee "$work/said"
"$root/scripts/parallel_bible" spanish "$work/ws"
"$root/scripts/parallel_bible" kjv-spanish "$work/ks"
has "$work"/ks/*.kjv 'There was a man:'
has "$work"/ks/*.spanish 'Yo soy Jehová, había dado.'
has "$work"/kw/*.kjv 'There was a man:'
has "$work"/kw/*.kjv 'I am the LORD, which given hath.'
has "$work"/kw/*.web 'There was a man, ‘Yes indeed’.'
has "$work"/kw/*.web 'I am Yahweh, who has given.'
has "$work"/ws/*.spanish 'Y había un hombresí, allM un él. Amén.'
has "$work"/ws/*.spanish 'Yo soy Jehová, había dado.'
grep -q '1 empty in one' "$work/said"
if cat "$work"/k*/* "$work"/ws/* | grep -E '[<>¶\\]|only here|engXXX|Mal numerado|  '; then
  echo 'the lines above should not have come through'
  exit 1
fi

for split in train dev test; do
  [[ $(wc -l <"$work/kw/$split.kjv") == $(wc -l <"$work/kw/$split.web") ]]
done
[[ -z $(cat "$work"/kw/*.kjv | sort | uniq -d) ]] # no verse in two splits

# A refusal is one line that says what to install.
cat >"$work/bin/diatheke" <<'END'
#!/bin/sh
echo 'Biblical Texts:'
END
if "$root/scripts/parallel_bible" kjv-web "$work/none" 2>"$work/said"; then exit 1; fi
grep -qx 'parallel_bible: error: .*sword-text-kjv.*' "$work/said"
[[ ! -e $work/none ]]
echo passed
