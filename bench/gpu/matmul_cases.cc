#include "bench/gpu/kernels_bench.h"
#include "heed/kernels/gpu/matmul_tiles.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/quantize.h"

namespace heed::gpu_bench {
namespace {

using namespace kernels;

struct Product {
  int64_t m, k, n;
};

/// Some elements against sums in double precision, by the size that rounding has.
double largest_error(const Product& p, const Tensor& c) {
  const std::vector<float> values = values_of(c);
  const CounterRandom random(7);
  double largest = 0;
  for (uint64_t i = 0; i < 64; ++i) {
    const auto row = static_cast<int64_t>(random.below(2 * i, static_cast<uint64_t>(p.m)));
    const auto column = static_cast<int64_t>(random.below(2 * i + 1, static_cast<uint64_t>(p.n)));
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      const double product = base_value(row * p.k + k) * base_value(column * p.k + k);
      sum += product;
      squares += product * product;
    }
    const double found = values[static_cast<size_t>(row * p.n + column)];
    const double error = std::abs(found - sum) / std::sqrt(squares);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

Prepared prepare_product(const Product& p, DType dtype) {
  const Tensor a = random_tensor({p.m, p.k}, dtype), b = random_tensor({p.n, p.k}, dtype);
  auto weights = std::make_shared<std::vector<PackedMatrix>>();
  for (size_t i = 0; i < copies(b.bytes()); ++i) weights->push_back(pack({b, true}));
  auto c = std::make_shared<Tensor>(Tensor::empty({p.m, p.n}, dtype));
  const auto run = [=](size_t i) { matmul_packed(a, (*weights)[i % weights->size()], {}, *c); };
  const auto check = [=] {
    std::string text = within(largest_error(p, *c), dtype == DType::bf16 ? 0.02 : 1e-4);
    if (p.m == 1) return text;
    Tensor alone = Tensor::empty({1, p.n}, dtype);
    matmul_packed(a.row_slice(p.m - 1, p.m), weights->front(), {}, alone);
    return text + " " + same_bits(c->row_slice(p.m - 1, p.m), alone);
  };
  return {run, check};
}

Case product_case(const Product& shape, DType dtype) {
  const Product p{count(shape.m), width(shape.k), width(shape.n)};
  const auto m = static_cast<double>(p.m), k = static_cast<double>(p.k),
             n = static_cast<double>(p.n);
  return {fmt::format("matmul {} M={} {}x{}", name_of(dtype), shape.m, shape.k, shape.n),
          static_cast<double>(size_of(dtype)) * (m * k + k * n + m * n), 2 * m * k * n,
          dtype == DType::bf16 ? Unit::bf16 : Unit::f32, [=] { return prepare_product(p, dtype); }};
}

/// The product by a tile of a name, whose bits are to be those of the tile that is chosen.
Case tile_case(const Product& shape, std::string_view tile) {
  Case of = product_case(shape, DType::bf16);
  const Product p{count(shape.m), width(shape.k), width(shape.n)};
  of.work = fmt::format("tile {} M={} {}x{}", tile, shape.m, shape.k, shape.n);
  of.prepare = [=]() -> Prepared {
    const Tensor a = random_tensor({p.m, p.k}, DType::bf16);
    const PackedMatrix b = pack({random_tensor({p.n, p.k}, DType::bf16), true});
    auto weights = std::make_shared<std::vector<PackedMatrix>>();
    for (size_t i = 0; i < copies(b.panels.bytes()); ++i)
      weights->push_back({b.panels.clone(), b.rows, b.cols, b.kernel});
    auto c = std::make_shared<Tensor>(Tensor::empty({p.m, p.n}, DType::bf16));
    const auto run = [=](size_t i) {
      const kernels::gpu::ForcedMatmulTile forced(tile);
      matmul_packed(a, (*weights)[i % weights->size()], {}, *c);
    };
    const auto check = [=] {
      Tensor chosen = Tensor::empty({p.m, p.n}, DType::bf16);
      matmul_packed(a, weights->front(), {}, chosen);
      return same_bits(*c, chosen);
    };
    return {run, check};
  };
  return of;
}

/// Rows of which a weight of blocks consists: to quantise all would take long.
constexpr int64_t kOwnRows = 64;

/// tile: of the kernel for many rows, or nothing.
Prepared prepare_blocks(const Product& p, DType type, std::string_view tile) {
  const Tensor a = random_tensor({p.m, p.k}, DType::bf16);
  Tensor rows, plain;
  {
    const DeviceScope host(nullptr);
    plain = Tensor::empty({kOwnRows, p.k});
    for (int64_t i = 0; i < plain.elements(); ++i)
      plain.data<float>()[i] = static_cast<float>(base_value(i));
    rows = Tensor::empty(plain.shape(), type);
    quantize(plain, rows);
    dequantize(rows, plain);
  }
  const Tensor weight = repeated(rows, {p.n, p.k});
  auto weights = std::make_shared<std::vector<PackedBlocks>>();
  for (size_t i = 0; i < copies(weight.bytes()); ++i) weights->push_back(pack_blocks(weight));
  auto c = std::make_shared<Tensor>(Tensor::empty({p.m, p.n}, DType::bf16));
  const auto run = [=](size_t i) {
    const kernels::gpu::ForcedMatmulTile forced(tile);
    matmul_blocks(a, (*weights)[i % weights->size()], {}, *c);
  };
  const auto check = [=] {
    const std::vector<float> values = values_of(*c);
    double errors = 0, squares = 0;
    for (int64_t n = 0; n < p.n; n += 61) {
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k)
        sum += base_value(k) * plain.data<float>()[n % kOwnRows * p.k + k];
      const double error = values[static_cast<size_t>(n)] - sum;
      errors += error * error;
      squares += sum * sum;
    }
    std::string text = within(std::sqrt(errors / squares), 0.02);
    if (p.m == 1) return text;
    Tensor alone = Tensor::empty({1, p.n}, DType::bf16);
    matmul_blocks(a.row_slice(p.m - 1, p.m), weights->front(), {}, alone);
    return text + " " + same_bits(c->row_slice(p.m - 1, p.m), alone);
  };
  return {run, check};
}

Case block_case(const Product& shape, DType type, std::string_view tile = "") {
  const Product p{count(shape.m), width(shape.k), width(shape.n)};
  const auto m = static_cast<double>(p.m), k = static_cast<double>(p.k),
             n = static_cast<double>(p.n);
  const std::string kind = tile.empty() ? fmt::format("blocks {}", name_of(type))
                                        : fmt::format("tile {} {}", tile, name_of(type));
  return {fmt::format("{} M={} {}x{}", kind, shape.m, shape.k, shape.n),
          2 * (m * k + m * n) + static_cast<double>(bytes_of(type, p.k * p.n)), 2 * m * k * n,
          Unit::int8, [=] { return prepare_blocks(p, type, tile); }};
}

}  // namespace

std::vector<Case> matmul_cases() {
  std::vector<Case> cases;
  for (const auto& [k, n] :
       {std::pair{4096, 4096}, {4096, 14336}, {14336, 4096}, {512, 2048}, {512, 32000}})
    for (const int64_t m : {1, 8, 64, 512, 4096})
      cases.push_back(product_case({m, k, n}, DType::bf16));
  for (const auto& [k, n] : {std::pair{4096, 4096}, {512, 2048}, {512, 32000}})
    for (const int64_t m : {1, 8, 64, 512, 2048})
      cases.push_back(product_case({m, k, n}, DType::f32));
  return cases;
}

std::vector<Case> tile_cases() {
  std::vector<Case> cases;
  for (const auto& [k, n] : {std::pair{4096, 4096}, {4096, 14336}, {14336, 4096}, {512, 2048}})
    for (const int64_t m : {1, 8, 16, 64, 128, 512, 4096})
      for (const std::string_view tile : kernels::gpu::matmul_tiles(DType::bf16))
        cases.push_back(tile_case({m, k, n}, tile));
  for (const DType type : {DType::q4_0, DType::q4_K})
    for (const auto& [k, n] : {std::pair{4096, 4096}, {4096, 14336}, {14336, 4096}})
      for (const int64_t m : {16, 32, 64, 128, 512})
        for (const std::string_view tile : kernels::gpu::matmul_tiles(type))
          cases.push_back(block_case({m, k, n}, type, tile));
  return cases;
}

std::vector<Case> block_cases() {
  std::vector<Case> cases;
  for (const DType type : {DType::q4_0, DType::q8_0, DType::q4_K})
    for (const auto& [k, n] : {std::pair{4096, 4096}, {4096, 14336}, {14336, 4096}})
      for (const int64_t m : {1, 8, 64, 512}) cases.push_back(block_case({m, k, n}, type));
  return cases;
}

}  // namespace heed::gpu_bench
