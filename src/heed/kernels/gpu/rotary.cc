#include "heed/kernels/rotary.h"

#include "heed/kernels/gpu/code/attention/rotary.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kRotaryThreads = 128;

}  // namespace

void rotate(const Tensor& x, const Rotation& rotation, const RotateOptions& options, Tensor& y) {
  if (x.elements() == 0) return;
  const int64_t half = rotation.cos.cols(), d = x.cols() / options.n_heads;
  const bool is_bf16 = x.dtype() == DType::bf16;
  const int64_t wide = is_bf16 ? 4 : 2;
  const bool in_packs = d % (2 * wide) == 0 && half % wide == 0 && options.begin % (2 * wide) == 0;
  const int64_t copied = memory(x) == memory(y) ? 0 : d - 2 * half;
  const int64_t units = x.rows() * options.n_heads * (half + copied) / (in_packs ? wide : 1);
  if (units == 0) return;
  const char* const kernel = is_bf16 ? (in_packs ? "rotary_bf16_4" : "rotary_bf16_1")
                                     : (in_packs ? "rotary_f32_2" : "rotary_f32_1");
  launch(kernel, {.x = blocks_for(units, kRotaryThreads), .threads = kRotaryThreads},
         RotaryArguments{
             memory(x), memory(y), elements<float>(rotation.cos), elements<float>(rotation.sin),
             static_cast<int>(x.rows()), static_cast<int>(options.n_heads), static_cast<int>(d),
             static_cast<int>(options.begin), static_cast<int>(half),
             options.layout == PairLayout::interleaved, options.inverse ? -1.0f : 1.0f});
}

}  // namespace heed::kernels::gpu
