// Prints a hash of the result of each kernel, from the same random inputs: what differs between two
// machines, or between two values of HEED_CPU, does not have the same bits (docs/platforms.md).
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "heed/kernels/activation.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_int8.h"
#include "heed/kernels/matmul_stored.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/quantize.h"
#include "heed/kernels/softmax.h"
#include "tests/kernels/attention_problem.h"

namespace heed::kernels {
namespace {

constexpr int64_t kRows = 37, kInputs = 1024, kOutputs = 90;

/// FNV-1a of the bytes.
void print(const std::string& name, const Tensor& result) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t i = 0; i < result.bytes(); ++i)
    hash = (hash ^ static_cast<uint8_t>(result.raw()[i])) * 0x100000001b3;
  fmt::print("{:24} {:016x}\n", name, hash);
}

void print_products() {
  const Tensor a = normals({kRows, kInputs}, 1), weight = normals({kOutputs, kInputs}, 2), none;
  Tensor c = Tensor::empty({kRows, kOutputs});
  for (const DType dtype : kFloating) {
    matmul({in_dtype(a, dtype)}, {in_dtype(weight, dtype), true}, {}, c);
    print(fmt::format("matmul {}", name_of(dtype)), c);
  }
  matmul_stored(a, weight, none, c);
  print("matmul_stored f32", c);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_K, DType::q6_K}) {
    Tensor quantised = Tensor::empty({kOutputs, kInputs}, dtype);
    quantize(weight, quantised);
    print(fmt::format("quantize {}", name_of(dtype)), quantised);
    matmul_stored(a, quantised, none, c);
    print(fmt::format("matmul_stored {}", name_of(dtype)), c);
    const PackedBlocks packed = pack_blocks(quantised);
    const BlockProduct product{&packed, &none, &c};
    matmul_blocks_grouped(a, {&product, 1});
    print(fmt::format("matmul_blocks {}", name_of(dtype)), c);
  }
  const PackedInt8 packed = pack_int8(weight);
  const Int8Product product{&packed, &none, &c};
  matmul_int8_grouped(a, {&product, 1});
  print("matmul_int8", c);
}

void print_rows() {
  const Tensor x = normals({kRows, kInputs}, 3);
  const Tensor weight = normals({kInputs}, 4), bias = normals({kInputs}, 5);
  Tensor y = Tensor::empty(x.shape());
  softmax_forward(x, y);
  print("softmax", y);
  Tensor moments = Tensor::empty({kRows, 2}), scales = Tensor::empty({kRows, 1});
  layer_norm_forward({x, weight, bias, 1e-5f}, y, moments);
  print("layer norm", y);
  rms_norm_forward({x, weight, 1e-5f}, y, scales);
  print("RMS norm", y);
  for (const Activation f : {Activation::gelu, Activation::silu, Activation::tanh}) {
    activation_forward(f, x, y);
    print(std::string(name_of(f)), y);
  }
}

void print_attention(int32_t queries) {
  AttentionProblem problem(
      {.q_lengths = {queries}, .kv_lengths = {70}, .n_heads = 2, .n_kv_heads = 2});
  attention_forward(problem.in(), problem.out, problem.logsumexp);
  print(fmt::format("attention of {}", queries), problem.out);
}

}  // namespace
}  // namespace heed::kernels

int main() {
  heed::kernels::print_products();
  heed::kernels::print_rows();
  heed::kernels::print_attention(1);
  heed::kernels::print_attention(70);
}
