#include "heed/ops/columns.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/columns.h"

namespace heed::ops {
namespace {

using kernels::ColumnsOptions;

/// The same copy in the other direction.
ColumnsOptions reversed(ColumnsOptions options, bool accumulate) {
  std::swap(options.from, options.to);
  options.accumulate = accumulate;
  return options;
}

/// A copy of the columns of x that `options` select: [N, n_heads * width].
Tensor take_columns(Context& context, const Tensor& x, const ColumnsOptions& options) {
  Tensor y = Tensor::empty({x.rows(), options.n_heads * options.width}, x.dtype());
  kernels::copy_columns(x, options, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, options, from = TensorKey(x)](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::copy_columns(dy, reversed(options, accumulate), dx);
  });
  return y;
}

/// Adds to the gradient of x that of its copy dy, made with `options`.
void give_back(Tape& tape, const TensorKey& x, const Tensor& dy, const ColumnsOptions& options) {
  auto [dx, accumulate] = tape.slot(x);
  if (options.from.stride == 0)
    kernels::sum_heads(dy, reversed(options, accumulate), dx);
  else
    kernels::copy_columns(dy, reversed(options, accumulate), dx);
}

/// The heads of `first`, each followed by its columns of `second`; `of_second` gives the width and
/// the place of these columns in `second`.
Tensor join(Context& context, const Tensor& first, const Tensor& second, int64_t n_heads,
            ColumnsOptions of_second) {
  require(n_heads > 0 && first.cols() % n_heads == 0 && first.rows() == second.rows() &&
              first.dtype() == second.dtype(),
          "join_heads: {} {} and {} {} are not parts of {} heads", name_of(first.dtype()),
          first.shape().text(), name_of(second.dtype()), second.shape().text(), n_heads);
  const int64_t width = first.cols() / n_heads, d = width + of_second.width;
  const ColumnsOptions of_first{
      .n_heads = n_heads, .width = width, .from = {.stride = width}, .to = {.stride = d}};
  of_second.n_heads = n_heads;
  of_second.to = {.begin = width, .stride = d};
  Tensor y = Tensor::empty({first.rows(), n_heads * d}, first.dtype());
  kernels::copy_columns(first, of_first, y);
  kernels::copy_columns(second, of_second, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, of_first, of_second, first_key = TensorKey(first),
                  second_key = TensorKey(second)](const Tensor& dy) {
    give_back(tape, first_key, dy, of_first);
    give_back(tape, second_key, dy, of_second);
  });
  return y;
}

}  // namespace

Tensor slice_columns(Context& context, const Tensor& x, int64_t begin, int64_t end) {
  require(begin >= 0 && begin < end && end <= x.cols(),
          "slice_columns: x is {}, no columns {} to {}", x.shape().text(), begin, end);
  return take_columns(context, x, {.width = end - begin, .from = {.begin = begin}});
}

Tensor concat_columns(Context& context, const Tensor& a, const Tensor& b) {
  return join_heads(context, a, b, 1);
}

HeadParts split_heads(Context& context, const Tensor& x, int64_t n_heads, int64_t first_width) {
  require(
      n_heads > 0 && x.cols() % n_heads == 0 && first_width > 0 && first_width < x.cols() / n_heads,
      "split_heads: x is {}, it has no {} heads of {} columns and more", x.shape().text(), n_heads,
      first_width);
  const int64_t d = x.cols() / n_heads, second_width = d - first_width;
  return {.first = take_columns(context, x,
                                {.n_heads = n_heads,
                                 .width = first_width,
                                 .from = {.begin = 0, .stride = d},
                                 .to = {.begin = 0, .stride = first_width}}),
          .second = take_columns(context, x,
                                 {.n_heads = n_heads,
                                  .width = second_width,
                                  .from = {.begin = first_width, .stride = d},
                                  .to = {.begin = 0, .stride = second_width}})};
}

Tensor join_heads(Context& context, const Tensor& first, const Tensor& second, int64_t n_heads) {
  require(n_heads > 0 && second.cols() % n_heads == 0,
          "join_heads: the second parts are {}, not of {} heads", second.shape().text(), n_heads);
  const int64_t width = second.cols() / n_heads;
  return join(context, first, second, n_heads, {.width = width, .from = {.stride = width}});
}

Tensor join_shared(Context& context, const Tensor& first, const Tensor& shared, int64_t n_heads) {
  return join(context, first, shared, n_heads, {.width = shared.cols()});
}

}  // namespace heed::ops
