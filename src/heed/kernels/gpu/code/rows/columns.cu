#include "heed/kernels/gpu/code/rows/columns.h"

#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/rows/units.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

HEED_DEVICE int64_t offset_of(const HeadColumnsOfRow& of, int head, int column) {
  return int64_t{block_x()} * of.columns + of.begin + head * of.stride + column;
}

HEED_DEVICE int own_column() {
  return static_cast<int>(block_y() * block_threads() + thread_index());
}

template <typename Unit>
HEED_DEVICE void copy_columns_of_row(const ColumnsArguments& in) {
  const int i = own_column(), head = i / in.width, column = i % in.width;
  if (head >= in.heads) return;
  static_cast<Unit*>(in.y)[offset_of(in.to, head, column)] =
      static_cast<const Unit*>(in.x)[offset_of(in.from, head, column)];
}

template <typename T>
HEED_DEVICE void add_columns_of_row(const ColumnsArguments& in) {
  const int i = own_column(), head = i / in.width, column = i % in.width;
  if (head >= in.heads) return;
  T& to = static_cast<T*>(in.y)[offset_of(in.to, head, column)];
  to = narrow<T>(wide(static_cast<const T*>(in.x)[offset_of(in.from, head, column)]) + wide(to));
}

template <typename T>
HEED_DEVICE void sum_heads_of_row(const ColumnsArguments& in) {
  const int column = own_column();
  if (column >= in.width) return;
  T& to = static_cast<T*>(in.y)[offset_of(in.to, 0, column)];
  float sum = in.accumulate ? wide(to) : 0.0f;
  for (int head = 0; head < in.heads; ++head)
    sum += wide(static_cast<const T*>(in.x)[offset_of(in.from, head, column)]);
  to = narrow<T>(sum);
}

}  // namespace

HEED_GPU_KERNEL(copy_columns_2, ColumnsArguments, in) { copy_columns_of_row<uint16_t>(in); }
HEED_GPU_KERNEL(copy_columns_4, ColumnsArguments, in) { copy_columns_of_row<uint32_t>(in); }
HEED_GPU_KERNEL(copy_columns_16, ColumnsArguments, in) { copy_columns_of_row<Unit16>(in); }
HEED_GPU_KERNEL(add_columns_f32, ColumnsArguments, in) { add_columns_of_row<float>(in); }
HEED_GPU_KERNEL(add_columns_bf16, ColumnsArguments, in) { add_columns_of_row<Bf16>(in); }
HEED_GPU_KERNEL(sum_heads_f32, ColumnsArguments, in) { sum_heads_of_row<float>(in); }
HEED_GPU_KERNEL(sum_heads_bf16, ColumnsArguments, in) { sum_heads_of_row<Bf16>(in); }

}  // namespace heed::kernels::gpu
