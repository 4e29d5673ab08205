#include "heed/kernels/gpu/code/products/quantise_int8.h"

#include "heed/kernels/gpu/code/blocks/block_planes.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE const T* own_row(const QuantiseInt8Arguments& in, int row) {
  return reinterpret_cast<const T*>(static_cast<const std::byte*>(in.x) + row * in.row_bytes);
}

template <typename T>
HEED_DEVICE void quantise_int8_row(const QuantiseInt8Arguments& in) {
  const int row = static_cast<int>(block_x()), g = row % Record::kRows;
  std::byte* const to =
      in.quants + static_cast<int64_t>(row / Record::kRows) * in.quads * kInt8RecordBytes;
  const float scale = quantise_row(
      own_row<T>(in, row), in.columns, in.quads * 32, [&](int i, uint32_t word) {
        // i: quad, unit, half, lane of the row
        const int lane = 4 * g + i % 4;
        reinterpret_cast<uint32_t*>(to)[(i / 8 * 32 + lane) * 2 + i / 4 % 2] = word;
      });
  if (thread_index() == 0) in.scales[row] = scale;
}

template <typename T>
HEED_DEVICE void pack_int8_row(const QuantiseInt8Arguments& in) {
  const int row = static_cast<int>(block_x()), in_strip = row % kStripRows;
  std::byte* const to =
      in.quants + static_cast<int64_t>(row / kStripRows) * in.quads * kInt8QuadBytes;
  // A row that there is not has no columns.
  const float scale = quantise_row(
      own_row<T>(in, row), row < in.rows ? in.columns : 0, in.quads * 32,
      [&](int i, uint32_t word) {
        const int lane = in_strip % 8 * 4 + i % 4, word_of_lane = in_strip / 8 + i / 4 % 2 * 2;
        reinterpret_cast<uint32_t*>(to)[(i / 8 * 32 + lane) * 4 + word_of_lane] = word;
      });
  if (thread_index() == 0) in.scales[row] = scale;
}

}  // namespace

HEED_GPU_KERNEL(quantise_int8_f32, QuantiseInt8Arguments, in) { quantise_int8_row<float>(in); }
HEED_GPU_KERNEL(quantise_int8_bf16, QuantiseInt8Arguments, in) { quantise_int8_row<Bf16>(in); }

#define HEED_PACK_INT8(name, T) \
  HEED_GPU_KERNEL(pack_int8_##name, QuantiseInt8Arguments, in) { pack_int8_row<T>(in); }
HEED_FOR_STORED_TYPES(HEED_PACK_INT8)

}  // namespace heed::kernels::gpu
