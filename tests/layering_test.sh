#!/usr/bin/env bash
# Fails when the source breaks a rule (docs/architecture.md, CONTRIBUTING.md), naming each place:
#   - a file of src/heed/ includes only its own layer and those below it;
#   - a public header, in include/heed/, includes only the standard library and public headers, and
#     counts as a file of its layer;
#   - kernels/cpu and kernels/reference do not include each other, and src/heed/ does not include src/cli/;
#   - only model/families/ asks for the name of a family or an architecture, and text/ for a tokenizer's;
#   - src/cli/ includes public headers, its own, those of base/ and the tables of options; engine::loaded()
#     is used in engine/ alone;
#   - the library neither prints nor ends the process, and leaves signal handlers and the locale alone;
#   - a C++ test writes into a TemporaryDirectory: tests run at the same time;
#   - no C++ file of src/ is longer than 400 lines;
#   - no folder of src/ has more than 60 files, those in its folders left out;
#   - no function is longer than 70 lines.
#
#   tests/layering_test.sh REPOSITORY    checks a repository
#   tests/layering_test.sh --self-test   checks that each rule, broken, is reported
set -euo pipefail

# From the ground up.
LAYERS='base distribute hub jinja tensor gpu kernels ops nn io text detect constrain model quantize checkpoint data metrics document generate tasks chat train inspect engine serve'
# The public headers and the lowest layer that may include each.
PUBLIC='adapter:base answer_format:base chat:chat chat_template:chat tokenizer:text error:base export:base executor:base fork:base ranks:distribute hub:hub language:detect interrupt:base machine_limits:base attention:ops classification:tasks compute:base embedding:data fill:generate glossary:generate
generation:constrain json_schema:constrain score:generate search:generate translation:generate load_options:engine model:engine shortlist:engine distill:engine
attention_drawing:engine bench:engine devices:engine metrics:metrics comet:tasks embedding_precision:tasks confidence:engine model_facts:engine model_tasks:engine server_config:serve
conversation:engine convert:engine lines:engine quantize:engine session:engine server:serve server_limits:serve train:train heed:serve
c:serve c_base:base c_generate:engine c_model:engine c_read:engine c_serve:serve c_session:engine c_text:chat c_train:engine'

# "FILE:LINE:INCLUDED FILE" for every include of a file of ours in a folder; FILE is relative to it.
includes_of() {
  (
    cd "$1"
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' heed --include='*.h' --include='*.cc' || true
  ) | sed -E 's/^([^:]*:[0-9]+):[^"]*"([^"]*)".*/\1:\2/'
}

broken_includes() {
  includes_of "$1/src" | awk -F : -v layers="$LAYERS" -v headers="${PUBLIC//$'\n'/ }" '
    function report(why) { printf "src/%s:%s: includes %s: %s\n", $1, $2, $3, why }
    function layer(path, parts) { split(path, parts, "/"); return parts[2] in public ? public[parts[2]] : parts[2] }
    BEGIN {
      n = split(layers, name, " "); for (i = 1; i <= n; ++i) height[name[i]] = i
      n = split(headers, pair, " "); for (i = 1; i <= n; ++i) { split(pair[i], part, ":"); public[part[1] ".h"] = part[2] }
    }
    !(layer($1) in height) { report("its folder is not a layer: add it to LAYERS"); next }
    # The code of GPUs is compiled for the simulator, too.
    $1 == "heed/gpu/code/operations.h" && $3 == "gpu_simulator/operations.h" { next }
    $3 !~ /^heed\// { report("expected a path that begins with heed/"); next }
    !(layer($3) in height) { report("there is no such layer"); next }
    height[layer($3)] > height[layer($1)] { report(layer($3) " lies above " layer($1)) }
    $1 ~ /kernels\/cpu\// && $3 ~ /kernels\/reference\// { report("must not include the backend that it is tested against") }
    $1 ~ /kernels\/reference\// && $3 ~ /kernels\/cpu\// { report("must not include the backend that it tests") }'
}

# A public header that is not in PUBLIC, and an include of one that its users do not have.
broken_public_headers() {
  local header name
  for header in "$1"/include/heed/*.h; do
    [[ -e $header ]] || continue
    name=${header##*/}
    [[ $'\n'${PUBLIC//[ $'\n']/$'\n'} == *$'\n'"${name%.h}:"* ]] ||
      echo "include/heed/$name: not a public header: add it to PUBLIC"
    grep -nE '^[[:space:]]*#[[:space:]]*include' "$header" |
      grep -vE 'include <([a-z_0-9]+|std(def|int)\.h|string\.h)>$|include "heed/[a-z_]+\.h"$' |
      sed "s|^|include/heed/$name:|; s|$|: expected a standard header or a public one|" ||
      true
  done
}

# What a host program would trip over. Comments are left out.
forbidden_calls() {
  (cd "$1" && find src/heed src/capi include \( -name '*.cc' -o -name '*.h' \) -print0 2>/dev/null || true) |
    (cd "$1" && xargs -0 -r awk '
      function report(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }
      { sub(/\/\/.*/, "") }
      /(^|[^[:alnum:]_])(stdout|stderr|cout|cerr|clog|printf|puts|putchar|perror|fmt::print)([^[:alnum:]_]|$)/ { report("prints: only src/cli does") }
      /(^|[^[:alnum:]_])(sigaction|signal|raise)[[:space:]]*\(/ { report("handles signals: only src/cli does") }
      /(^|[^[:alnum:]_])(_?[eE]xit|quick_exit|abort|terminate)[[:space:]]*\(/ { report("ends the process: throw an Error") }
      /(^|[^[:alnum:]_])(setlocale|locale::global|setenv|putenv|unsetenv|chdir|umask|srand)[[:space:]]*\(/ { report("changes the state of the process") }')
}

# What differs between families is a field of model::Family.
named_families() {
  (
    cd "$1"
    grep -rnE '(family|model_type|architecture)(\(\))? *[!=]= *"|"[^"]*" *[!=]= *[a-z_.()]*(family|model_type|architecture)\b' src/heed src/capi src/cli --include='*.cc' --include='*.h' 2>/dev/null || true
  ) | grep -vE '^src/heed/(model/families|text)/' | sed 's/^\([^:]*:[0-9]*\):.*/\1: asks for the name of a family: add a field to model::Family/' || true
}

# The program is a face of the library, like the C API and the Python module.
faces() {
  (cd "$1" && grep -rnE '^#include "heed/[a-z_]+/' src/cli --include='*.cc' --include='*.h' 2>/dev/null || true) |
    grep -vE '"heed/(base/[a-z_0-9]+|[a-z]+/[a-z]+_options)\.h"' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: includes an internal header: give what it needs a public one/' || true
  (cd "$1" && grep -rn 'engine::loaded(' src --include='*.cc' --include='*.h' 2>/dev/null || true) |
    grep -vE '^src/heed/engine/' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: engine::loaded() is private to engine\/: give Model what this needs/' || true
}

shared_directories() {
  (cd "$1" && grep -rnE 'temp_directory_path|"/tmp' tests --include='*.cc' --include='*.h' 2>/dev/null || true) |
    sed -n '/^tests\/base\/testing\.h:/!s/^\([^:]*:[0-9]*\):.*/\1: writes where other tests may: use TemporaryDirectory/p'
}

long_files() {
  (cd "$1" && find src include \( -name '*.cc' -o -name '*.h' \) -exec wc -l {} + 2>/dev/null || true) |
    awk '$2 != "total" && $1 > 400 { printf "%s: has %d lines, expected at most 400\n", $2, $1 }'
}

full_folders() {
  (cd "$1" && find src -type f \( -name '*.cc' -o -name '*.h' \) 2>/dev/null || true) | sed 's|/[^/]*$||' | sort | uniq -c |
    awk '$1 > 60 { printf "%s: has %d files, expected at most 60: give it rooms\n", $2, $1 }'
}

# A function begins where a line of no indentation, or of a class, ends with a brace; it ends at the
# next brace of the same indentation. clang-format sees to that.
long_functions() {
  (cd "$1" && find src tests bench examples \( -name '*.cc' -o -name '*.h' \) -print0 2>/dev/null || true) |
    (cd "$1" && xargs -0 -r awk '
      FNR == 1 { begin[0] = begin[2] = 0 }
      { match($0, /^ */); indent = RLENGTH }
      indent != 0 && indent != 2 { next }
      /^ *}/ && begin[indent] {
        lines = FNR - begin[indent] + 1
        if (lines > 70) printf "%s:%d: a function of %d lines, expected at most 70\n", FILENAME, begin[indent], lines
        begin[indent] = 0
      }
      /{$/ && !/= {$/ && !/^ *(namespace|class|struct|enum|union|extern|template|})/ { begin[indent] = FNR }')
}

check() {
  local broken
  [[ -d $1/src/heed ]] || { echo "$1/src/heed does not exist" && return 1; }
  broken=$(broken_includes "$1" && broken_public_headers "$1" && forbidden_calls "$1" && named_families "$1" && faces "$1" && shared_directories "$1" && long_files "$1" && full_folders "$1" && long_functions "$1")
  [[ -z $broken ]] || { printf '%s\n' "$broken" && return 1; }
}

# expect REPORT FILE CONTENT : a repository with this one file more is reported with these words, and
# without them if REPORT is empty.
expect() {
  local report=$1 file=$2 content=$3 tree output
  tree=$(mktemp -d)
  mkdir -p "$tree/src/heed/base" "$tree/include/heed" "$(dirname "$tree/$file")"
  echo '#include "heed/base/error.h"' >"$tree/src/heed/base/file.h"
  echo '#include <stdexcept>' >"$tree/include/heed/error.h"
  printf '%s\n' "$content" >"$tree/$file"
  if output=$(check "$tree"); then output=; fi
  rm -r "$tree"
  if [[ -z $report && -n $output ]] || [[ $output != *"$report"* ]]; then
    printf 'self-test: %s with "%.60s": expected "%s", found "%s"\n' "$file" "$content" "$report" "$output"
    return 1
  fi
}

self_test() {
  expect '' src/heed/nn/linear.h '#include "heed/ops/matmul.h"'
  expect '' src/heed/nn/linear.h $'#include <vector>\n#include "heed/nn/module.h"'
  expect 'src/cli/main.cc:1: includes an internal header' src/cli/main.cc '#include "heed/train/trainer.h"'
  expect '' src/cli/main.cc $'#include "heed/model.h"\n#include "heed/base/file.h"\n#include "heed/engine/load_options.h"'
  expect 'src/heed/serve/x.cc:1: engine::loaded() is private' src/heed/serve/x.cc '  f(engine::loaded(model));'
  expect '' src/heed/engine/x.cc '  f(engine::loaded(model));'
  expect 'src/heed/ops/matmul.h:2: includes heed/nn/linear.h: nn lies above ops' \
    src/heed/ops/matmul.h $'#pragma once\n#include "heed/nn/linear.h"'
  expect 'train lies above text' src/heed/text/bpe.cc '  #  include "heed/train/trainer.h"'
  expect 'begins with heed/' src/heed/nn/linear.cc '#include "cli/options/command.h"'
  expect 'begins with heed/' src/heed/nn/linear.cc '#include "../train/trainer.h"'
  expect 'no such layer' src/heed/nn/linear.cc '#include "heed/extra/x.h"'
  expect 'is not a layer' src/heed/extra/x.h '#include "heed/base/error.h"'
  expect 'that it is tested against' src/heed/kernels/cpu/pointwise/softmax.cc '#include "heed/kernels/reference/softmax.h"'
  expect 'that it tests' src/heed/kernels/reference/softmax.cc '#include "heed/kernels/cpu/simd/dispatch.h"'
  expect '' src/heed/base/error.h '#include "heed/error.h"'
  expect '' include/heed/model.h '#include "heed/error.h"'
  expect 'include/heed/model.h:2:#include "heed/model/config.h": expected' \
    include/heed/model.h $'#include <string>\n#include "heed/model/config.h"'
  expect 'no such layer' src/heed/base/file.cc '#include "heed/absent.h"'
  expect 'tests/io/x_test.cc:1: writes where other tests may' tests/io/x_test.cc 'const auto x = fs::temp_directory_path();'
  expect '' tests/base/testing.h '(std::filesystem::temp_directory_path()'
  local call
  for call in 'std::fprintf(stderr, "x");' 'std::cerr << x;' 'fmt::print("x");' 'std::puts("x");' 'std::cout << x;' 'printf("x");'; do
    expect 'src/heed/io/gguf/gguf_file.cc:2: prints' src/heed/io/gguf/gguf_file.cc $'#include <cstdio>\n'"  $call"
    expect '' src/cli/commands/info.cc "  $call"
  done
  expect 'include/heed/model.h:1: prints' include/heed/model.h 'inline void f() { std::cerr << 1; }'
  for call in 'std::signal(SIGINT, f);' 'sigaction(SIGINT, &a, &b);' 'std::raise(SIGINT);'; do
    expect 'handles signals' src/heed/train/trainer.cc "  $call"
  done
  for call in 'std::exit(1);' 'std::_Exit(2);' 'std::abort();' 'std::terminate();'; do
    expect 'ends the process' src/heed/base/file.cc "  $call"
  done
  expect 'changes the state of the process' src/heed/base/file.cc '  std::setlocale(LC_ALL, "C");'
  expect '' src/heed/base/file.cc $'  // std::cerr << x;\n  std::snprintf(text, 4, "x");\n  on_exit_of(x);'
  expect 'asks for the name of a family' src/heed/checkpoint/x.cc '  if (config.family == "llama") f();'
  expect 'asks for the name of a family' src/heed/engine/x.cc '  return "gpt2" != metadata.architecture();'
  expect '' src/heed/model/families/x.cc '  if (config.family == "llama") f();'
  expect 'src/cli/main.cc: has 401 lines' src/cli/main.cc "$(yes '//' | head -n 401)"
  expect '' include/heed/model.h $'#include <vector>\n#include "heed/export.h"'
  expect '' include/heed/c.h '#include <stdint.h>'
  expect 'src/capi/call.cc:1: prints' src/capi/call.cc 'std::puts("x");'
  expect '' src/heed/engine/model.cc '#include "heed/model.h"'
  expect 'engine lies above text' src/heed/text/bpe.cc '#include "heed/model.h"'
  expect 'include/heed/extra.h: not a public header' include/heed/extra.h '#include <vector>'
  expect 'include/heed/model.h:1:#include <fmt/format.h>: expected' include/heed/model.h '#include <fmt/format.h>'
  local tree
  tree=$(mktemp -d)
  mkdir -p "$tree/src/heed/base"
  touch "$tree"/src/heed/base/file{1..61}.h
  [[ $(check "$tree") == *'src/heed/base: has 61 files'* ]] || { echo 'self-test: a folder of 61 files' && return 1; }
  rm -r "$tree"
  local body
  body=$(printf '  f();%.0s\n' {1..68})
  expect '' src/cli/main.cc $'int main() {\n'"$body"$'\n}'
  expect 'src/cli/main.cc:1: a function of 71 lines' src/cli/main.cc $'int main() {\n  f();\n'"$body"$'\n}'
  expect 'src/heed/nn/x.h:2: a function of 71 lines' src/heed/nn/x.h \
    $'class X {\n  int f() {\n    f();\n'"${body//f/    f}"$'\n  }\n};'
}

case ${1:-} in
  --self-test) self_test ;;
  '') echo 'usage: layering_test.sh REPOSITORY | --self-test' && exit 2 ;;
  *) check "$1" ;;
esac
