#include "heed/kernels/gpu/code/rows/rows.h"

#include "heed/kernels/gpu/code/rows/units.h"
#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename Unit>
HEED_DEVICE void gather(const GatherRowsArguments& in) {
  const int column = static_cast<int>(block_y() * block_threads() + thread_index());
  if (column >= in.columns) return;
  const int64_t to = block_x(), from = in.rows[to];
  static_cast<Unit*>(in.y)[to * in.columns + column] =
      static_cast<const Unit*>(in.x)[from * in.columns + column];
}

/// Rounded to T after every row.
template <typename T>
HEED_DEVICE void add_rows_of_target(const AddRowsArguments& in) {
  constexpr int n = kVector<T>;
  const int column = static_cast<int>(block_y() * block_threads() + thread_index()) * n;
  if (column >= in.columns) return;
  const int exist = in.columns - column, group = static_cast<int>(block_x());
  T* const to = static_cast<T*>(in.y) + int64_t{in.targets[group]} * in.columns + column;
  const T* const from = static_cast<const T*>(in.x) + column;
  float sums[n];
  load_vector(to, exist, 0.0f, sums);
  for (int i = in.starts[group]; i < in.starts[group + 1]; ++i) {
    float values[n];
    load_vector(from + int64_t{in.order[i]} * in.columns, exist, 0.0f, values);
    HEED_UNROLL
    for (int e = 0; e < n; ++e) sums[e] = wide(narrow<T>(sums[e] + values[e]));
  }
  store_vector(sums, exist, to);
}

}  // namespace

HEED_GPU_KERNEL(gather_rows_2, GatherRowsArguments, in) { gather<uint16_t>(in); }
HEED_GPU_KERNEL(gather_rows_4, GatherRowsArguments, in) { gather<uint32_t>(in); }
HEED_GPU_KERNEL(gather_rows_16, GatherRowsArguments, in) { gather<Unit16>(in); }

HEED_GPU_KERNEL(add_rows_f32, AddRowsArguments, in) { add_rows_of_target<float>(in); }
HEED_GPU_KERNEL(add_rows_bf16, AddRowsArguments, in) { add_rows_of_target<Bf16>(in); }

}  // namespace heed::kernels::gpu
