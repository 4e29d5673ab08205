#include "heed/kernels/matmul_int8.h"

#include <limits>

#include "heed/kernels/gpu/matmul_tiles.h"
#include "tests/kernels/op_cases/stored_input.h"

namespace heed::kernels {
namespace {

/// tile: of the kernel for many rows, or nothing.
OpCase int8_case(DType dtype, int64_t m, int64_t n, int64_t k, std::string_view tile = "") {
  const DType in = m % 3 == 0 ? DType::bf16 : DType::f32, out = m % 2 ? DType::f32 : DType::bf16;
  return {.name = "matmul_int8 with " + std::string(name_of(dtype)) + " of " + std::to_string(m) +
                  ", " + std::to_string(n) + ", " + std::to_string(k) +
                  (tile.empty() ? "" : " by " + std::string(tile)),
          .run =
              [=] {
                const gpu::ForcedMatmulTile forced(tile);
                const Tensor weight =
                    n % 2 ? stored_input({n, k}, dtype, 2) : stored_on_host({n, k}, dtype, 2);
                const Tensor bias = m % 2 ? normal_input({n}, 3) : Tensor();
                Tensor c = result({m, n}, out);
                matmul_int8(normal_input({m, k}, 1, in), pack_int8(weight), bias, c);
                return std::vector<OpResult>{{"c", c, 4.0}};
              },
          .same_bits = true};
}

/// Several products, more than a launch has.
std::vector<OpResult> grouped_int8(int64_t m) {
  const Tensor a = normal_input({m, 160}, 1), none;
  std::vector<PackedInt8> packed;
  std::vector<Tensor> biases;
  std::vector<OpResult> results;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t n = 5 + 20 * (i % 3);
    packed.push_back(pack_int8(stored_input({n, 160}, DType::f32, static_cast<uint64_t>(i))));
    biases.push_back(i % 4 == 1 ? normal_input({n}, 7) : none);
    results.push_back({"c" + std::to_string(i), result({m, n})});
  }
  std::vector<Int8Product> products;
  for (size_t i = 0; i < packed.size(); ++i)
    products.push_back({&packed[i], &biases[i], &results[i].value});
  matmul_int8_grouped(a, products);
  return results;
}

/// A row of a and a row of the weight are of that value.
std::vector<OpResult> int8_edges(int64_t m, float value) {
  Device* const device = current_device();
  Tensor a, weight;
  {
    const DeviceScope host(nullptr);
    a = normals({m, 70}, 1);
    weight = normals({18, 70}, 2);
    std::fill_n(a.data<float>() + (m - 1) * 70, 70, value);
    std::fill_n(weight.data<float>() + 70, 70, value);
  }
  Tensor c = result({m, 18});
  matmul_int8(a.to(device), pack_int8(weight.to(device)), {}, c);
  return {{"c", c, 4.0}};
}

const AddOpCases matmul_int8_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kStored) cases.push_back(int8_case(dtype, 2, 17, 256));
  for (const int64_t m : {0, 1, 3, 9, 33, 130})
    for (const int64_t k : {0, 1, 70, 1300}) cases.push_back(int8_case(DType::f32, m, 20, k));
  cases.push_back(int8_case(DType::bf16, 34, 133, 260));
  cases.push_back(int8_case(DType::f16, 4, 0, 64));
  for (const int64_t m : {16, 17, 64, 65}) cases.push_back(int8_case(DType::f32, m, 20, 70));
  for (const std::string_view tile : gpu::matmul_tiles(DType::q8_0))
    for (const int64_t m : {5, 70}) cases.push_back(int8_case(DType::f32, m, 75, 1300, tile));
  for (const int64_t m : {1, 3, 40}) {
    cases.push_back({.name = "matmul_int8_grouped of " + std::to_string(m),
                     .run = [=] { return grouped_int8(m); },
                     .same_bits = true});
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float value : {0.0f, 1e-38f, 1e-44f, 1e30f, kInfinity, std::nanf("")})
      cases.push_back({.name = "matmul_int8 of " + std::to_string(value),
                       .run = [=] { return int8_edges(m, value); },
                       .same_bits = std::isfinite(value)});
  }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
