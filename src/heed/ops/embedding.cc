#include "heed/ops/embedding.h"

#include <algorithm>
#include <memory_resource>
#include <numeric>
#include <utility>
#include <vector>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/embedding.h"
#include "heed/kernels/quantize.h"
#include "heed/kernels/rows.h"
#include "heed/ops/check.h"
#include "heed/tensor/allocator.h"

namespace heed::ops {
namespace {

void check_below(std::string_view what, std::span<const int32_t> numbers, int64_t bound) {
  for (size_t n = 0; n < numbers.size(); ++n)
    require(numbers[n] >= 0 && numbers[n] < bound, "embedding: {} {} is {}, expected 0 to {}", what,
            n, numbers[n], bound - 1);
}

/// A table in f32 or bf16, and the indices of the rows to read.
struct Rows {
  Rows(Tensor of, std::span<const int32_t> wanted) : table(std::move(of)), given(wanted) {}

  Tensor table;
  std::span<const int32_t> given;
  std::vector<int32_t> in_order = {};  // 0, 1, 2, ...: where the table holds just these rows

  std::span<const int32_t> numbers() const { return in_order.empty() ? given : in_order; }
};

/// Some rows of a table of any stored dtype.
Rows rows_of(const Tensor& table, std::span<const int32_t> wanted, DType dtype) {
  Tensor wide = Tensor::empty({static_cast<int64_t>(wanted.size()), table.cols()});
  kernels::dequantize_rows(table, wanted, wide);
  Tensor rows = wide;
  if (dtype != DType::f32) {
    rows = Tensor::empty(wide.shape(), dtype);
    kernels::convert(wide, rows);
  }
  Rows result(rows, wanted);
  result.in_order.resize(wanted.size());
  std::iota(result.in_order.begin(), result.in_order.end(), 0);
  return result;
}

/// A copy for a backward step, without a call of the heap.
std::pmr::vector<int32_t> numbers_of(std::span<const int32_t> numbers) {
  return {numbers.begin(), numbers.end(), &pool_resource()};
}

/// Adds scale * dy[n] to the gradient of row tokens[n], for all but the padding.
void add_rows_except(Tape& tape, const Parameter& table, std::span<const int32_t> ids,
                     const Tensor& dy, float scale, int32_t padding) {
  if (std::ranges::find(ids, padding) == ids.end()) return tape.add_rows(table, ids, dy, scale);
  std::vector<int32_t> kept, rows;
  for (size_t n = 0; n < ids.size(); ++n)
    if (ids[n] != padding) {
      kept.push_back(ids[n]);
      rows.push_back(static_cast<int32_t>(n));
    }
  if (kept.empty()) return;
  Tensor dy_kept = Tensor::empty({std::ssize(rows), dy.cols()}, dy.dtype());
  kernels::gather_rows(dy, rows, dy_kept);
  tape.add_rows(table, kept, dy_kept, scale);
}

}  // namespace

Tensor embedding(Context& context, const EmbeddingInput& input, const Parameter& table, float scale,
                 const PositionTable& positions) {
  check_below("token", input.tokens, table.value.rows());
  if (context.tape) {
    context.tape->look_up(table, context.dtype);
    if (positions.learned) context.tape->look_up(*positions.learned);
  }
  const Tensor& position_table = positions.learned ? positions.learned->value : positions.fixed;
  if (position_table.defined()) {
    require(input.positions.size() == input.tokens.size(),
            "embedding: there are {} tokens and {} positions, expected one position per token",
            input.tokens.size(), input.positions.size());
    check_below("position", input.positions, position_table.rows());
  }
  Tensor y =
      Tensor::empty({static_cast<int64_t>(input.tokens.size()), table.value.cols()}, context.dtype);
  const Tensor& elements = table.working.defined() ? table.working : table.value;
  const Rows words = elements.dtype() == context.dtype
                         ? Rows{elements, input.tokens}
                         : rows_of(elements, input.tokens, context.dtype);
  const Rows position_rows = !position_table.defined() || position_table.dtype() == DType::f32
                                 ? Rows{position_table, input.positions}
                                 : rows_of(position_table, input.positions, DType::f32);
  kernels::embedding_forward({.tokens = words.numbers(),
                              .positions = position_rows.numbers(),
                              .table = words.table,
                              .position_table = position_rows.table,
                              .scale = scale},
                             y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, &table, learned = positions.learned, unplaced = positions.padding, scale,
                  padding = input.padding, tokens = numbers_of(input.tokens),
                  places = numbers_of(input.positions)](const Tensor& dy) {
    add_rows_except(tape, table, tokens, dy, scale, padding);
    if (learned) add_rows_except(tape, *learned, places, dy, 1.0f, unplaced);
  });
  return y;
}

}  // namespace heed::ops
