#include "heed/kernels/gpu/code/attention/key_rows.h"

#include "heed/kernels/gpu/code/attention/q8_0.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
struct alignas(4 * sizeof(T)) FourOf {
  T values[4];
};

HEED_DEVICE int64_t unit_of_thread() {
  return static_cast<int64_t>(block_x()) * block_threads() + thread_index();
}

/// Four columns by a thread if rows have a multiple of four, else one.
template <typename From, typename To>
HEED_DEVICE void write_rows(const KeyRowsArguments& in) {
  const int each = in.columns % 4 == 0 ? 4 : 1, units = in.columns / each;
  const int64_t unit = unit_of_thread(), row = unit / units;
  if (row >= in.rows) return;
  const int64_t column = unit % units * each;
  const From* const from = static_cast<const From*>(in.x) + row * in.columns + column;
  To* const to = static_cast<To*>(in.cached) + int64_t{in.targets[row]} * in.columns + column;
  if (each == 1) {
    *to = narrow<To>(wide(*from));
    return;
  }
  const FourOf<From> x = *reinterpret_cast<const FourOf<From>*>(from);
  FourOf<To> y;
  for (int i = 0; i < 4; ++i) y.values[i] = narrow<To>(wide(x.values[i]));
  *reinterpret_cast<FourOf<To>*>(to) = y;
}

/// A block of 32 columns by a thread.
template <typename From>
HEED_DEVICE void write_q8_0(const KeyRowsArguments& in) {
  const int units = in.columns / 32;
  const int64_t unit = unit_of_thread(), row = unit / units;
  if (row >= in.rows) return;
  const FourOf<From>* const from =
      reinterpret_cast<const FourOf<From>*>(static_cast<const From*>(in.x) + unit * 32);
  float x[32];
  for (int i = 0; i < 8; ++i) {
    const FourOf<From> four = from[i];
    for (int j = 0; j < 4; ++j) x[4 * i + j] = wide(four.values[j]);
  }
  BlockQ8_0* const to =
      static_cast<BlockQ8_0*>(in.cached) + int64_t{in.targets[row]} * units + unit % units;
  if (!put_q8_0(x, to)) set_flag(in.refused);
}

}  // namespace

HEED_GPU_KERNEL(key_rows_f32_f32, KeyRowsArguments, in) { write_rows<float, float>(in); }
HEED_GPU_KERNEL(key_rows_f32_bf16, KeyRowsArguments, in) { write_rows<float, Bf16>(in); }
HEED_GPU_KERNEL(key_rows_bf16_f32, KeyRowsArguments, in) { write_rows<Bf16, float>(in); }
HEED_GPU_KERNEL(key_rows_bf16_bf16, KeyRowsArguments, in) { write_rows<Bf16, Bf16>(in); }
HEED_GPU_KERNEL(key_rows_f32_q8_0, KeyRowsArguments, in) { write_q8_0<float>(in); }
HEED_GPU_KERNEL(key_rows_bf16_q8_0, KeyRowsArguments, in) { write_q8_0<Bf16>(in); }

}  // namespace heed::kernels::gpu
