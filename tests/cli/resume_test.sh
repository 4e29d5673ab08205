#!/usr/bin/env bash
# resume_test.sh HEED: --resume FILE continues an interrupted output to the bytes of an uninterrupted one, and refuses a
# file that it cannot continue.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"
make_translator
for i in $(seq 60); do echo "the $i sheep"; done >lines.txt
paste lines.txt <(tac lines.txt) >pairs.txt

# continues INPUT COMMAND...: what 25 lines have left is continued, whatever was written after them.
continues() {
  local input=$1
  shift
  "$heed" "$@" <"$input" >whole 2>/dev/null
  rm -f part part.progress
  head -25 "$input" | "$heed" "$@" --resume part 2>/dev/null
  printf 'half a line' >>part
  "$heed" "$@" --resume part <"$input" >out 2>/dev/null
  cmp whole part
  [[ ! -s out ]] || { echo "$*: --resume prints" && exit 1; }
  "$heed" "$@" --resume part --input "$input" 2>/dev/null # nothing is left to do
  cmp whole part
}
continues lines.txt translate --model translator --nbest 2 --num-beams 3
continues lines.txt embed "${encoder[@]}"
continues lines.txt generate "${decoder[@]}" --max-new-tokens 3 --temperature 1
continues pairs.txt score --model translator
continues pairs.txt score --model translator --json

# A line that cannot be answered ends the run; the lines before it are answered, and continued when it is mended.
sed '40s/\t/ /' pairs.txt >broken.txt
rm -f part part.progress
refused 'line 40: expected source, tab, target' "$heed" score --model translator --resume part --input broken.txt
[[ $(wc -l <part) == 39 ]]
"$heed" score --model translator --resume part --input pairs.txt
"$heed" score --model translator <pairs.txt | cmp - part

embed=("$heed" embed "${encoder[@]}")
"${embed[@]}" --resume part2 <lines.txt
tac lines.txt >reversed.txt
refused 'part2 answers other lines than the first 60 of standard input' "${embed[@]}" --resume part2 <reversed.txt
head -20 lines.txt >few.txt
refused 'standard input has fewer lines than part2 answers: 20, not 60' "${embed[@]}" --resume part2 <few.txt
sed -i 's/"gelu"/"relu"/' encoder/config.json
refused 'part2 was begun with another model' "${embed[@]}" --resume part2 <lines.txt
echo text >written
refused 'written has no written.progress' "${embed[@]}" --resume written <lines.txt
refused '--resume is "no/folder": the folder does not exist' "${embed[@]}" --resume no/folder <lines.txt
(
  flock 9
  refused 'locked: another run of heed writes it' "${embed[@]}" --resume locked <lines.txt
) 9>locked
