#include "heed/kernels/matmul_stored.h"

#include "tests/kernels/op_cases/op_cases.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

Tensor stored_weight(const Shape& shape, DType dtype) {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  return random_stored(shape, dtype, 2).to(device);
}

const AddOpCases matmul_stored_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kStored)
    for (const int64_t k : {0, 256, 512, 45}) {
      if (k % block_elements(dtype)) continue;
      cases.push_back(
          {fmt::format("product with a stored weight of {}, {} wide", name_of(dtype), k), [=] {
             const Tensor weight = stored_weight({21, k}, dtype);
             const Tensor bias = normal_input({21}, 6);
             std::vector<OpResult> results;
             for (const int64_t m : {0, 1, 3, 9, 33}) {
               const DType in = m == 3 ? DType::bf16 : DType::f32;
               Tensor c = result({m, 21}, m == 9 ? DType::bf16 : DType::f32);
               matmul_stored(normal_input({m, k}, 1, in), weight, m == 9 ? Tensor() : bias, c);
               results.push_back({fmt::format("{} rows", m), c, 50.0});
             }
             return results;
           }});
    }
  return cases;
});

// A row of c is the same, bit by bit, whatever the other rows.
const AddOpCases matmul_stored_row_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kStored)
    cases.push_back(
        {"rows of a product with a stored weight of " + std::string(name_of(dtype)), [=] {
           const Tensor weight = stored_weight({10, 512}, dtype);
           const Tensor a = normal_input({40, 512}, 1);
           Tensor c = result({40, 10});
           matmul_stored(a, weight, {}, c);
           const Tensor all = c.to(nullptr);
           std::vector<OpResult> results;
           for (const int64_t rows : {1, 2, 9}) {
             Tensor some = result({rows, 10});
             matmul_stored(a.row_slice(30, 30 + rows), weight, {}, some);
             const int32_t same = same_bits(some.to(nullptr), all.row_slice(30, 30 + rows));
             results.push_back({fmt::format("{} rows are the same", rows),
                                Tensor::of({1}, std::span<const int32_t>(&same, 1))});
           }
           return results;
         }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
