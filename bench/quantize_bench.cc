// Times the kernels that quantise and pack weights and that quantise activations. `share` and
// `best` are the bytes read and written, as a share of what all threads can read from an area of
// that size (machine.h).
#include <cstddef>
#include <memory>

#include "bench/sizes.h"
#include "heed/kernels/cpu/gemm_blocks/rows.h"
#include "heed/kernels/cpu/simd/grain.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/quantize.h"
#include "heed/tensor/allocator.h"

namespace heed::kernels {
namespace {

Tensor stored(const BenchSize& size, DType dtype) {
  Tensor weight = Tensor::zeros({size.rows, size.cols}, dtype);
  if (is_written(dtype)) quantize(some_matrix(size.rows, size.cols), weight);
  return weight;
}

void add_weights(const BenchSize& size, DType dtype) {
  add_bench("dequantize", name_of(dtype), size, [=] {
    const Tensor x = stored(size, dtype);
    Tensor y = Tensor::empty(x.shape());
    return BenchWork{x.bytes() + y.bytes(), [=]() mutable { dequantize(x, y); }};
  });
  if (is_written(dtype))
    add_bench("quantize", name_of(dtype), size, [=] {
      const Tensor x = some_matrix(size.rows, size.cols);
      Tensor y = Tensor::empty(x.shape(), dtype);
      return BenchWork{x.bytes() + y.bytes(), [=]() mutable { quantize(x, y); }};
    });
  if (!is_plain(dtype))
    add_bench("pack_blocks", name_of(dtype), size, [=] {
      const Tensor x = stored(size, dtype);
      return BenchWork{2 * x.bytes(), [=] { benchmark::DoNotOptimize(pack_blocks(x)); }};
    });
}

/// Integers of 8 bits, with the sums that weights of four bits need.
void add_activations() {
  using namespace cpu;
  add_benches("quantize_activations", [](const BenchSize& size, DType dtype) {
    const Tensor x = some_matrix(size.rows, size.cols, dtype);
    const int64_t blocks = x.elements() / kProductBlock;
    const std::shared_ptr<std::byte> memory =
        allocate(static_cast<size_t>(x.elements() + 16 * blocks));
    auto* numbers = reinterpret_cast<float*>(memory.get() + x.elements());
    const QuantizedRows rows{.blocks = size.cols / kProductBlock,
                             .interleave = 8,
                             .quants = reinterpret_cast<int8_t*>(memory.get()),
                             .scales = numbers,
                             .sums = numbers + blocks,
                             .initial = reinterpret_cast<int32_t*>(numbers + 2 * blocks)};
    return BenchWork{x.bytes() + x.elements() + 16 * blocks, [=] {
                       static_cast<void>(memory);  // kept
                       parallel_for(x.rows(), grain_rows(kLightGrain, x.cols()),
                                    [&](int64_t begin, int64_t end) {
                                      quantize_activations(x, begin, end, {.any = true, .bias = 8},
                                                           rows);
                                    });
                     }};
  });
}

/// The layout that floating-point products read.
void add_packing() {
  add_benches("pack", [](const BenchSize& size, DType dtype) {
    const Tensor weight = some_matrix(size.rows, size.cols, dtype);
    return BenchWork{weight.bytes() + pack({weight, true}).panels.bytes(), [=] {
                       benchmark::DoNotOptimize(pack({weight, true}));
                     }};
  });
}

[[maybe_unused]] const bool added = [] {
  for (const BenchSize& size : kBenchSizes)
    for (const BlockTraits& type : kStoredTypes)
      if (type.dtype != DType::f32 && type.dtype != DType::i32) add_weights(size, type.dtype);
  add_activations();
  add_packing();
  return true;
}();

}  // namespace
}  // namespace heed::kernels
