#!/usr/bin/env bash
# embed_test.sh HEED: embed prints dense, sparse and several vectors of a line, with prompts and in
# precisions, as lines or as one file, and says in one line what is wrong.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

# join TARGET FOLDER...: the files of several golden folders in one.
join() {
  local target=$1
  shift
  mkdir "$target"
  for folder in "$@"; do cp -r "$golden/$folder/." "$target"; done
}
join prompts encoders/embed-bert embedding_modules/prompts
join dense encoders/embed-bert embedding_modules/dense
join splade sparse_embeddings/masked-lm sparse_embeddings/splade-max
join colbert encoders/embed-bert multi_vector/colbert
printf 'A cat sits\nThe kitten lies by the fire\ntaxes\n' >lines.txt
embed=("$heed" embed --input lines.txt)

# Prompts: by name, by task, or as they are.
"${embed[@]}" --model prompts --prompt-name query >named
"${embed[@]}" --model prompts --task query >task
"${embed[@]}" --model prompts --prompt 'the cat of ' >given
"${embed[@]}" --model prompts >standard
cmp named task && cmp named given
if cmp -s named standard; then echo "the prompt has no effect" && exit 1; fi
refused 'prompt_name is "poem"; the prompts of the model' "${embed[@]}" --model prompts --prompt-name poem
misused '--prompt excludes --prompt-name' "${embed[@]}" --model prompts --prompt-name query --prompt x
refused 'dimensions is 13, expected 1 to 12' "${embed[@]}" --model dense --dimensions 13

# Kinds of vectors.
"${embed[@]}" --model splade --sparse >sparse
"${embed[@]}" --model colbert --multi-vector --task query >several
python3 - <<'END'
import json
for line in open("sparse"):
    vector = json.loads(line)
    assert len(vector["indices"]) == len(vector["values"]) == len(vector["tokens"]) > 0
    assert min(vector["values"]) > 0 and vector["indices"] == sorted(vector["indices"])
for line in open("several"):
    vectors = json.loads(line)
    assert len(vectors["embeddings"]) == len(vectors["tokens"]) == 12 and len(vectors["embeddings"][0]) == 8
END
echo 'a cat sits' | "$heed" embed --model colbert --multi-vector --task query >query
"${embed[@]}" --model colbert --multi-vector --task document >documents
"$heed" rerank --model colbert --query 'a cat sits' --json --input lines.txt >ranked
python3 - <<'END'
import json
query = json.loads(open("query").read())["embeddings"]
product = lambda a, b: sum(x * y for x, y in zip(a, b))
scores = [sum(max(product(q, d) for d in json.loads(line)["embeddings"]) for q in query) for line in open("documents")]
ranked = [json.loads(line) for line in open("ranked")]
assert [one["index"] for one in ranked] == sorted(range(3), key=lambda i: -scores[i])
assert all(abs(one["score"] - scores[one["index"]]) < 1e-4 for one in ranked), (ranked, scores)
END
refused 'splade cannot embed, expected' "${embed[@]}" --model splade
refused 'dense cannot embed sparsely, expected' "${embed[@]}" --model dense --sparse
refused 'dense cannot embed each token, expected' "${embed[@]}" --model dense --multi-vector

# Windows of long lines.
printf 'the cat of the fire sits in the London of Ada\ntaxes\n' >long.txt
long=("$heed" embed --input long.txt --model dense --window 6 --no-normalize)
"${long[@]}" --overlap 1 >pooled
"${long[@]}" --overlap 1 --window-vectors >windows
python3 - <<'END'
import json
counts = []
for text, pooled, line in zip(open("long.txt"), open("pooled"), open("windows")):
    windows = json.loads(line)["windows"]
    counts.append(len(windows))
    assert (windows[0]["start"], windows[-1]["end"]) == (0, len(text) - 1), windows
    total = sum(window["tokens"] for window in windows)
    for i, x in enumerate(json.loads(pooled)["embedding"]):
        mean = sum(window["tokens"] * window["embedding"][i] for window in windows) / total
        assert abs(mean - x) < 1e-6
assert counts == [4, 1], counts
END
refused 'overlap is 4, expected less than 4' "${long[@]}" --overlap 4
refused 'window is 49, expected at most 48' "$heed" embed --input long.txt --model dense --window 49
refused '--window-vectors needs --window' "$heed" embed --input long.txt --model dense --window-vectors
refused 'pooling, normalize, dimensions and window are of embed()' "$heed" embed --input long.txt --model splade --sparse --window 6

# Precisions and files.
for precision in float32 bfloat16 int8 uint8 binary ubinary; do
  "${embed[@]}" --model dense --precision "$precision" >"$precision.jsonl"
  "${embed[@]}" --model dense --precision "$precision" --format safetensors >"$precision.safetensors"
  [[ $precision == bfloat16 ]] || "${embed[@]}" --model dense --precision "$precision" --format npy >"$precision.npy"
done
python3 - <<'END'
import ast, json, struct

def rows(precision):
    return [json.loads(line)["embedding"] for line in open(precision + ".jsonl")]

whole = rows("float32")
kinds = {"float32": ("f", "F32"), "int8": ("b", "I8"), "uint8": ("B", "U8"), "binary": ("b", "I8"), "ubinary": ("B", "U8")}
for precision, (letter, name) in kinds.items():
    columns = len(rows(precision)[0])
    with open(precision + ".npy", "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    assert data[:8] == b"\x93NUMPY\x01\0" and header["shape"] == (3, columns) and (10 + size) % 64 == 0, header
    numbers = list(struct.unpack(f"<{3 * columns}{letter}", data[10 + size:]))
    assert numbers == [x for row in rows(precision) for x in row], precision
    with open(precision + ".safetensors", "rb") as file:
        stored = file.read()
    size = struct.unpack("<Q", stored[:8])[0]
    tensor = json.loads(stored[8:8 + size])["embeddings"]
    assert tensor["dtype"] == name and tensor["shape"] == [3, columns] and stored[8 + size:] == data[-len(stored) + 8 + size:]
for column in range(12):
    least, largest = min(row[column] for row in whole), max(row[column] for row in whole)
    for row, scaled in zip(whole, rows("uint8")):
        assert abs((row[column] - least) / (largest - least) * 255 - scaled[column]) <= 1.001
for row, near in zip(whole, rows("bfloat16")):
    assert all(abs(x - y) <= abs(x) / 256 for x, y in zip(row, near))
END
# Ranges of other vectors.
python3 - <<'END'
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 12), }"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open("ranges.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<24f", *[-1.0] * 12, *[1.0] * 12))
END
"${embed[@]}" --model dense --precision int8 --ranges ranges.npy >scaled
[[ $(head -c 14 scaled) == '{"embedding":[' && $(wc -l <scaled) == 3 ]]
refused 'float32.npy: expected an array [2, D] of float32' \
  "${embed[@]}" --model dense --precision int8 --ranges float32.npy
refused 'there are ranges of 12 dimensions, expected 5' \
  "${embed[@]}" --model dense --precision int8 --ranges ranges.npy --dimensions 5
refused '--ranges is for --precision int8 and uint8' "${embed[@]}" --model dense --ranges ranges.npy
refused 'numpy has no bfloat16' "${embed[@]}" --model dense --format npy --precision bfloat16
refused '--format and --precision are for one dense vector' "${embed[@]}" --model splade --sparse --format npy
refused '--resume continues lines of JSON' "${embed[@]}" --model dense --format npy --resume out.npy
"$heed" embed --model dense --format npy </dev/null >empty.npy
[[ $(head -c 6 empty.npy | tail -c 5) == NUMPY ]]
# A long line is cut.
python3 -c 'print("cat " * 250000)' | "$heed" embed --model dense >long
[[ $(wc -l <long) == 1 ]]
echo passed
