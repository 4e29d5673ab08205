#include "heed/kernels/matmul_blocks.h"

#include <limits>

#include "heed/kernels/gpu/matmul_tiles.h"
#include "tests/kernels/op_cases/stored_input.h"

namespace heed::kernels {
namespace {

/// c = a weight^T + bias.
OpResult block_product(const Tensor& a, const PackedBlocks& weight, const Tensor& bias,
                       DType out = DType::f32) {
  Tensor c = result({a.rows(), weight.rows}, out);
  matmul_blocks(a, weight, bias, c);
  return {"c", c, 4.0};
}

/// tile: of the kernel for many rows, or nothing.
OpCase block_case(DType dtype, int64_t m, int64_t n, int64_t k, std::string_view tile = "") {
  const bool on_host = n % 2 == 0;
  const DType in = m % 3 == 0 ? DType::bf16 : DType::f32, out = m % 2 ? DType::f32 : DType::bf16;
  return {.name = "matmul_blocks with " + std::string(name_of(dtype)) + " of " + std::to_string(m) +
                  ", " + std::to_string(n) + ", " + std::to_string(k) +
                  (tile.empty() ? "" : " by " + std::string(tile)),
          .run =
              [=] {
                const gpu::ForcedMatmulTile forced(tile);
                const Tensor weight =
                    on_host ? stored_on_host({n, k}, dtype, 2) : stored_input({n, k}, dtype, 2);
                const Tensor bias = m % 2 ? normal_input({n}, 3) : Tensor();
                return std::vector<OpResult>{
                    block_product(normal_input({m, k}, 1, in), pack_blocks(weight), bias, out)};
              },
          .same_bits = true};
}

/// Products of several types, more than a launch has, some of them with a bias.
std::vector<OpResult> grouped_products(int64_t m) {
  constexpr DType kTypes[] = {DType::q8_0, DType::q8_0, DType::q4_1, DType::q6_K, DType::q8_0};
  const Tensor a = normal_input({m, 256}, 1), none;
  std::vector<Tensor> weights, biases;
  std::vector<OpResult> results;
  for (int64_t i = 0; i < 14; ++i) {
    const int64_t n = 5 + 20 * (i % 3);
    const DType dtype = i < 10 ? DType::q4_0 : kTypes[i - 10];
    weights.push_back(stored_input({n, 256}, dtype, static_cast<uint64_t>(i)));
    biases.push_back(i % 4 == 1 ? normal_input({n}, 7) : none);
    results.push_back({"c" + std::to_string(i), result({m, n})});
  }
  const std::vector<PackedBlocks> packed = pack_blocks_grouped(weights);
  std::vector<BlockProduct> products;
  for (size_t i = 0; i < packed.size(); ++i)
    products.push_back({&packed[i], &biases[i], &results[i].value});
  matmul_blocks_grouped(a, products);
  return results;
}

/// Numbers that are not finite, and those with the largest and the smallest scales.
std::vector<OpResult> block_edges(DType dtype, int64_t m, float value) {
  Device* const device = current_device();
  Tensor a, weight;
  {
    const DeviceScope host(nullptr);
    a = normals({m, 256}, 1);
    a.data<float>()[200] = value;
    for (int64_t i = 0; i < 32; ++i) a.data<float>()[i] = value;
    weight = random_stored({18, 256}, dtype, 2);
    visit_block(dtype, [&](auto zero) {
      using Block = decltype(zero);
      auto* const bytes = reinterpret_cast<uint8_t*>(weight.data<Block>());
      std::fill(bytes, bytes + sizeof(Block), uint8_t{0x80});
      set_scale(weight.data<Block>()[0], 1.0f, 1.0f);
      if (dtype != DType::mxfp4)
        set_scale(weight.data<Block>()[3 * 256 / Block::kElements],
                  -std::numeric_limits<float>::infinity(), 1.0f);
    });
  }
  return {block_product(a.to(device), pack_blocks(weight), {})};
}

const AddOpCases matmul_blocks_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kBlocks) {
    for (const int64_t m : {1, 5, 10}) cases.push_back(block_case(dtype, m, 39, 768));
    cases.push_back(block_case(dtype, 35, 40, 256));
    for (const std::string_view tile : gpu::matmul_tiles(dtype)) {
      cases.push_back(block_case(dtype, 5, 20, block_elements(dtype) == 32 ? 1248 : 1280, tile));
      cases.push_back(block_case(dtype, 70, 70, 256, tile));
    }
    cases.push_back(block_case(dtype, 2, 16, 2304));
    cases.push_back(block_case(dtype, 3, 0, 256));
    cases.push_back(block_case(dtype, 0, 16, 256));
    cases.push_back(block_case(dtype, 2, 16, 0));
    if (block_elements(dtype) == 32) {
      for (const int64_t k : {32, 352}) cases.push_back(block_case(dtype, 1, 17, k));
      cases.push_back(block_case(dtype, 33, 18, 96));
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float value : {kInfinity, std::nanf("")})
      for (const int64_t m : {1, 2, 33})
        cases.push_back({.name = "matmul_blocks of " + std::to_string(value) + " with " +
                                 std::string(name_of(dtype)),
                         .run = [=] { return block_edges(dtype, m, value); }});
    for (const float value : {0.0f, std::numeric_limits<float>::denorm_min(), 1e-38f, 1e30f})
      cases.push_back(
          {.name =
               "matmul_blocks of " + std::to_string(value) + " with " + std::string(name_of(dtype)),
           .run =
               [=] {
                 const Tensor weight = stored_input({16, 256}, dtype, 2);
                 const Tensor a = input(Tensor::full({2, 256}, value));
                 return std::vector<OpResult>{block_product(a, pack_blocks(weight), {})};
               },
           .same_bits = true});
  }
  cases.push_back(block_case(DType::q4_K, 131, 140, 512));
  // Where another kernel takes over.
  for (const int64_t m : {8, 9, 15, 16, 17, 24, 25, 64, 65})
    for (const DType dtype : {DType::q5_1, DType::q6_K})
      cases.push_back(block_case(dtype, m, 33, 256));
  for (const int64_t m : {1, 3, 40})
    cases.push_back({.name = "matmul_blocks_grouped of " + std::to_string(m),
                     .run = [=] { return grouped_products(m); },
                     .same_bits = true});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
