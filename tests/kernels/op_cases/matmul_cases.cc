#include "heed/kernels/matmul.h"

#include <limits>

#include "heed/kernels/cpu/gemm/kernels.h"
#include "heed/kernels/gpu/matmul_tiles.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// A product [m, k] x [k, n].
struct ProductCase {
  int64_t m, n, k;
  DType in = DType::f32, out = DType::f32;
  bool a_transposed = false, b_transposed = true;
  bool bias = false, accumulate = false;

  std::string name() const {
    return fmt::format("product of {}x{}x{} {}{}{} to {}{}{}", m, n, k, name_of(in),
                       a_transposed ? ", a transposed" : "", b_transposed ? ", b transposed" : "",
                       name_of(out), bias ? " with bias" : "", accumulate ? ", added" : "");
  }
  Factor a(const Tensor& matrix) const { return {matrix, a_transposed}; }
  Factor b(const Tensor& matrix) const { return {matrix, b_transposed}; }
  Tensor a_matrix() const { return normal_input(a_transposed ? Shape{k, m} : Shape{m, k}, 1, in); }
  Tensor b_matrix() const { return normal_input(b_transposed ? Shape{n, k} : Shape{k, n}, 2, in); }
  MatmulOptions options() const {
    return {.accumulate = accumulate, .bias = bias ? normal_input({n}, 3) : Tensor()};
  }
  Tensor c() const { return accumulate ? normal_input({m, n}, 4, out) : result({m, n}, out); }
};

/// On the CPU, the kernel for f32 of every machine, whose bits GPUs have.
class CommonF32Kernel {
 public:
  CommonF32Kernel() { cpu::force_kernel(DType::f32, &cpu::f32_kernel()); }
  ~CommonF32Kernel() { cpu::force_kernel(DType::f32, nullptr); }
};

OpCase case_of(const ProductCase& of, std::string_view tile = "") {
  return {of.name() + (tile.empty() ? "" : " by " + std::string(tile)),
          [=] {
            const CommonF32Kernel f32;
            const gpu::ForcedMatmulTile forced(tile);
            Tensor c = of.c();
            matmul(of.a(of.a_matrix()), of.b(of.b_matrix()), of.options(), c);
            return std::vector<OpResult>{{"c", c, 50.0}};
          },
          of.in == DType::f32};
}

const AddOpCases product_cases([] {
  std::vector<OpCase> cases;
  for (const DType in : kFloating)
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) {
        const auto add = [&](int64_t m, int64_t n, int64_t k, DType out, bool bias,
                             bool accumulate) {
          cases.push_back(
              case_of({m, n, k, in, out, a_transposed, b_transposed, bias, accumulate}));
        };
        add(3, 5, 7, DType::f32, true, false);
        add(70, 66, 136, DType::f32, false, true);
        add(70, 67, 137, DType::bf16, true, true);
        add(18, 24, 16, DType::bf16, false, true);
      }
  for (const DType in : kFloating) {
    for (const int64_t k : {0, 1})
      for (const bool accumulate : {false, true})
        cases.push_back(case_of({2, 9, k, in, DType::f32, false, true, true, accumulate}));
    cases.push_back(case_of({0, 9, 4, in}));
    cases.push_back(case_of({9, 0, 4, in}));
  }
  return cases;
});

// Every tile by itself, in each way that factors are stored: over its edges, and for longer than
// its stages.
const AddOpCases tile_cases([] {
  std::vector<OpCase> cases;
  for (const DType in : kFloating)
    for (const std::string_view tile : gpu::matmul_tiles(in)) {
      if (tile.find('x') == tile.npos) {
        const int64_t m = std::stoi(std::string(tile.substr(tile.find('_') + 1)));
        for (const int64_t k : {400, 1300})
          cases.push_back(case_of({m, k == 400 ? 41 : 9, k, in}, tile));
        continue;
      }
      for (const auto& [a_transposed, b_transposed] :
           {std::pair(false, true), std::pair(false, false), std::pair(true, false)}) {
        ProductCase of{136, 264, 24, in, DType::f32, a_transposed, b_transposed};
        cases.push_back(case_of(of, tile));
        of.m = 8;
        of.n = 16;
        of.k = 340;
        cases.push_back(case_of(of, tile));
      }
    }
  return cases;
});

int different(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(nullptr), y = b.to(nullptr);
  return x.bytes() != y.bytes() ||
         std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.bytes())) != 0;
}

/// How many of the results differ from the first one's rows, to be none.
OpResult none(int32_t count) {
  return {"different results", Tensor::of({1}, std::span<const int32_t>(&count, 1))};
}

// A row of c is the same, bit by bit, whatever the other rows and whichever the kernel.
const AddOpCases row_cases([] {
  std::vector<OpCase> cases;
  for (const DType in : kFloating)
    cases.push_back({"rows of a product of " + std::string(name_of(in)), [=] {
                       const ProductCase of{200, 48, 173, in, DType::f32, false, true, true};
                       const Tensor a = of.a_matrix(), weight = of.b_matrix();
                       const PackedMatrix packed = pack({weight, true});
                       Tensor all = of.c();
                       matmul({a}, {weight, true}, of.options(), all);
                       int32_t count = 0;
                       for (const std::string_view tile : gpu::matmul_tiles(in))
                         for (const int64_t rows : {1, 12, 60}) {
                           const gpu::ForcedMatmulTile forced(tile);
                           Tensor some = result({rows, of.n});
                           matmul_packed(a.row_slice(5, 5 + rows), packed, of.options(), some);
                           count += different(some, all.row_slice(5, 5 + rows));
                         }
                       // Factors that are stored otherwise.
                       Tensor c = of.c();
                       Tensor turned = Tensor::empty({of.k, of.n}, in).to(nullptr);
                       const Tensor on_host = weight.to(nullptr);
                       visit_floating(in, [&](auto zero) {
                         using T = decltype(zero);
                         for (int64_t i = 0; i < of.n * of.k; ++i)
                           turned.data<T>()[i % of.k * of.n + i / of.k] = on_host.data<T>()[i];
                       });
                       turned = input(turned);
                       matmul({a}, {turned}, of.options(), c);
                       count += different(c, all);
                       matmul_packed(a, pack({turned}), of.options(), c);
                       count += different(c, all);
                       return std::vector<OpResult>{none(count), {"c", all, 50.0}};
                     }});
  return cases;
});

const AddOpCases packed_cases([] {
  std::vector<OpCase> cases;
  for (const DType in : kFloating)
    for (const int64_t k : {64, 77}) {
      cases.push_back({fmt::format("packed product of {} by {}", name_of(in), k), [=] {
                         const ProductCase of{9, 40, k, in};
                         // As a mapped file: in the memory of the host.
                         const Tensor weight = of.b_matrix().to(nullptr);
                         const PackedMatrix packed = pack({weight, true});
                         Tensor c = of.c();
                         matmul_packed(of.a_matrix(), packed, {}, c);
                         return std::vector<OpResult>{{"c", c, 50.0}};
                       }});
    }
  return cases;
});

const AddOpCases special_cases([] {
  std::vector<OpCase> cases;
  for (const DType in : kFloating)
    for (const int64_t m : {2, 70})
      cases.push_back({fmt::format("NaN in {} rows of {}", m, name_of(in)), [=] {
                         Device* const device = current_device();
                         const DeviceScope host(nullptr);
                         Tensor a = normals({m, 40}, 1), weight = normals({20, 40}, 2);
                         a.data<float>()[1 * 40 + 39] = std::numeric_limits<float>::quiet_NaN();
                         weight.data<float>()[7 * 40 + 3] = std::numeric_limits<float>::infinity();
                         a = in_dtype(a, in);
                         weight = in_dtype(weight, in);
                         const DeviceScope where(device);
                         Tensor c = result({m, 20});
                         matmul({input(a)}, {input(weight), true}, {}, c);
                         return std::vector<OpResult>{{"c", c, 50.0}};
                       }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels
