#include "heed/kernels/gpu/code/reductions/softmax.h"

#include "heed/kernels/gpu/code/reductions/exp_sum.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <int held, typename T>
HEED_DEVICE void softmax_row(const SoftmaxArguments& in, const RowThreads& at) {
  constexpr int n = kVector<T>;
  const int columns = in.columns;
  const RowPart<T, held> part(static_cast<const T*>(in.x) + at.row * columns, columns, at,
                              -INFINITY);
  T* const y = static_cast<T*>(in.y) + at.row * columns;
  float exponentials[held > 0 ? held : 1][n];
  const ExpSumOfPart row = exp_sum_of(part, columns, at, exponentials);
  const float shift = shift_of(row.largest);
  const float inverse = row.sum == 0.0f ? 0.0f : 1.0f / row.sum;
  over_row<held, n>(at, columns, [&](int slot, int column) {
    float values[n];
    if constexpr (held == 0) part.get(slot, column, values);
    HEED_UNROLL
    for (int i = 0; i < n; ++i)
      values[i] = (held > 0 ? exponentials[slot][i] : expf(values[i] - shift)) * inverse;
    store_vector(values, columns - column, y + column);
  });
}

template <typename T>
HEED_DEVICE void softmax_rows(const SoftmaxArguments& in) {
  const RowThreads at(in.shape);
  if (at.row >= in.rows) return;
  with_held(in.shape, [&](auto held) { softmax_row<held.kVectors, T>(in, at); });
}

/// The sums of parts; finish(part, sum, place, at) is called where a row has only one.
template <typename Finish>
HEED_DEVICE void sum_exponentials(const LogSoftmaxArguments& in, const Finish& finish) {
  const RowThreads at(in.shape);
  const PlaceOfPart place(at.row, in.columns, in.parts);
  if (place.row >= in.rows) return;
  with_held(in.shape, [&](auto held) {
    const RowPart<float, held.kVectors> part(in.x + place.first, place.columns, at, -INFINITY);
    const ExpSumOfPart sum = exp_sum_of(part, place.columns, at);
    if (in.parts == 1)
      finish(part, sum, place, at);
    else if (at.thread == 0)
      in.sums[at.row] = sum;
  });
}

HEED_DEVICE void put_log_sum_exp(const LogSoftmaxArguments& in, ExpSumOfPart sum, int64_t row) {
  const float log = log_of(sum.sum);
  in.y[2 * row] = log != log ? log : shift_of(sum.largest);
  in.y[2 * row + 1] = log;
}

/// y = x - shift - log for the elements of a part.
template <typename Part>
HEED_DEVICE void put_log_softmax(const LogSoftmaxArguments& in, const Part& part, ExpSumOfPart row,
                                 const PlaceOfPart& place, const RowThreads& at) {
  constexpr int n = kVector<float>;
  const float shift = shift_of(row.largest), log = log_of(row.sum);
  float* const y = in.y + place.first;
  over_row<Part::kHeld, n>(at, place.columns, [&](int slot, int column) {
    float values[n];
    part.get(slot, column, values);
    HEED_UNROLL
    for (int i = 0; i < n; ++i) values[i] = values[i] - shift - log;
    store_vector(values, place.columns - column, y + column);
  });
}

}  // namespace

HEED_GPU_KERNEL(softmax_f32, SoftmaxArguments, in) { softmax_rows<float>(in); }
HEED_GPU_KERNEL(softmax_bf16, SoftmaxArguments, in) { softmax_rows<Bf16>(in); }

HEED_GPU_KERNEL(log_softmax_sums, LogSoftmaxArguments, in) {
  sum_exponentials(in, [&](const auto& part, ExpSumOfPart sum, const PlaceOfPart& place,
                           const RowThreads& at) { put_log_softmax(in, part, sum, place, at); });
}

/// The second launch where rows have several parts.
HEED_GPU_KERNEL(log_softmax_finish, LogSoftmaxArguments, in) {
  const RowThreads at(in.shape);
  const PlaceOfPart place(at.row, in.columns, in.parts);
  if (place.row >= in.rows) return;
  const ExpSumOfPart row = sum_of_parts(in.sums + place.row * in.parts, in.parts);
  const RowPart<float, 0> part(in.x + place.first, place.columns, at, 0.0f);
  put_log_softmax(in, part, row, place, at);
}

HEED_GPU_KERNEL(log_sum_exp_sums, LogSoftmaxArguments, in) {
  sum_exponentials(in, [&](const auto&, ExpSumOfPart sum, const PlaceOfPart& place,
                           const RowThreads& at) {
    if (at.thread == 0) put_log_sum_exp(in, sum, place.row);
  });
}

/// The second launch; a warp a row.
HEED_GPU_KERNEL(log_sum_exp_finish, LogSoftmaxArguments, in) {
  const int64_t row = block_x();
  const ExpSumOfPart sum = sum_of_parts(in.sums + row * in.parts, in.parts);
  if (thread_index() == 0) put_log_sum_exp(in, sum, row);
}

}  // namespace heed::kernels::gpu
