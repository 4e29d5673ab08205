#include "heed/kernels/gpu/code/blocks/quantize.h"

#include "heed/kernels/gpu/code/blocks/blocks.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

struct alignas(16) FourFloats {
  float values[4];
};

/// A thread converts four elements of a row. Only rows of plain types may have a rest.
template <typename T>
HEED_DEVICE void dequantize_row(const DequantizeArguments& in) {
  const int64_t fours = (in.columns + 3) / 4;
  const int64_t i = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (i >= in.count * fours) return;
  const int64_t to_row = i / fours, from_row = in.rows ? in.rows[to_row] : to_row;
  const int64_t first = i % fours * 4;
  const auto* const row =
      reinterpret_cast<const T*>(static_cast<const char*>(in.x) + from_row * in.row_bytes);
  float* const to = in.y + to_row * in.columns;
  if (kIsBlock<T> || in.columns % 4 == 0) {
    FourFloats four;
    widen_four(row, first, four.values);
    *reinterpret_cast<FourFloats*>(to + first) = four;
  } else if constexpr (!kIsBlock<T>) {
    for (int64_t at = first; at < first + 4 && at < in.columns; ++at) to[at] = wide(row[at]);
  }
}

}  // namespace

#define HEED_DEQUANTIZE(name, T) \
  HEED_GPU_KERNEL(dequantize_##name, DequantizeArguments, in) { dequantize_row<T>(in); }
HEED_FOR_STORED_TYPES(HEED_DEQUANTIZE)

}  // namespace heed::kernels::gpu
