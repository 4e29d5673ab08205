#include "heed/ops/embedding.h"

#include <vector>

#include "heed/kernels/embedding.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check_below(std::string_view what, std::span<const int32_t> numbers, int64_t bound) {
  for (size_t n = 0; n < numbers.size(); ++n)
    require(numbers[n] >= 0 && numbers[n] < bound, "embedding: {} {} is {}, expected 0 to {}", what,
            n, numbers[n], bound - 1);
}

}  // namespace

Tensor embedding(Context& context, const EmbeddingInput& input, Parameter& table, float scale,
                 const PositionTable& positions) {
  check_below("token", input.tokens, table.value.rows());
  const Tensor& position_table = positions.learned ? positions.learned->value : positions.fixed;
  if (position_table.defined()) {
    require(input.positions.size() == input.tokens.size(), "embedding: {} tokens, {} positions",
            input.tokens.size(), input.positions.size());
    check_below("position", input.positions, position_table.rows());
  }
  Tensor y =
      Tensor::empty({static_cast<int64_t>(input.tokens.size()), table.value.cols()}, context.dtype);
  kernels::embedding_forward({.tokens = input.tokens,
                              .positions = input.positions,
                              .table = table.read(context.dtype),
                              .position_table = position_table,
                              .scale = scale},
                             y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record([&tape, &table, learned = positions.learned, scale, key = TensorKey(y),
               tokens = std::vector(input.tokens.begin(), input.tokens.end()),
               places = std::vector(input.positions.begin(), input.positions.end())] {
    const Tensor dy = tape.take(key);
    if (!dy.defined()) return;
    kernels::embedding_backward(tokens, dy, scale, table.gradient);
    if (learned) kernels::embedding_backward(places, dy, 1.0f, learned->gradient);
  });
  return y;
}

}  // namespace heed::ops
