#include "heed/kernels/cpu/simd/instructions.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/kernels/cpu/simd/machine.h"

namespace heed::kernels::cpu {
namespace {

struct Limit {
  size_t machine;                      // an index of machine::kNames
  std::optional<std::string> unknown;  // the value of HEED_CPU that names no machine
};

Limit read_limit() {
  const size_t best = machine::kNames.size() - 1;
  const char* value = std::getenv("HEED_CPU");
  if (!value) return {best, {}};
  for (size_t i = 0; i <= best; ++i)
    if (value == machine::kNames[i]) return {i, {}};
  return {best, value};
}

/// Read before any kernel runs, so that Highway never chooses what HEED_CPU excludes.
const Limit limit = [] {
  const Limit read = read_limit();
  machine::limit_highway(read.machine);
  return read;
}();

/// "baseline, avx2 or amx"
std::string known_names() {
  std::string names;
  for (size_t i = 0; i < machine::kNames.size(); ++i) {
    if (i > 0) names += i + 1 < machine::kNames.size() ? ", " : " or ";
    names += machine::kNames[i];
  }
  return names;
}

}  // namespace

bool has(Instructions instructions) {
  if (limit.unknown) fail("HEED_CPU is {}, expected {}", quoted(*limit.unknown), known_names());
  if (instructions == Instructions::none) return true;
  return machine::allows(limit.machine, instructions) && machine::processor_has(instructions);
}

}  // namespace heed::kernels::cpu
