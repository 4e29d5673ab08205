// Chooses the kernel for a product, and copies factors that kernels cannot read where they are.
#include "heed/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/products/matmul.h"
#include "heed/kernels/gpu/grouped_products.h"
#include "heed/kernels/gpu/launch.h"
#include "heed/kernels/gpu/matmul_tiles.h"

namespace heed::kernels::gpu {
namespace {

using heed::gpu::GpuProperties;

constexpr int64_t kChunkBytes = 16;  // that kernels copy at a time

/// A kernel with a large tile.
struct LargeTile {
  std::string_view name;
  MatmulTile tile;
  const char *nt, *nn, *tn;
  float speed;  // of products, relative to the others
};
/// A kernel for at most tile.columns rows of a.
struct FewRows {
  std::string_view name;
  MatmulTile tile;
  const char* kernel;
};

#define HEED_LARGE_TILE(type, Type, size, speed)                                                  \
  LargeTile {                                                                                     \
#size, k##Type##Tile##size, "matmul_" #type "_" #size "_nt", "matmul_" #type "_" #size "_nn", \
        "matmul_" #type "_" #size "_tn", speed                                                    \
  }

constexpr std::array kBf16Tiles{
    HEED_LARGE_TILE(bf16, Bf16, 128x256, 1.0f), HEED_LARGE_TILE(bf16, Bf16, 128x128, 0.95f),
    HEED_LARGE_TILE(bf16, Bf16, 64x128, 0.8f), HEED_LARGE_TILE(bf16, Bf16, 64x64, 0.6f)};
constexpr std::array kF32Tiles{HEED_LARGE_TILE(f32, F32, 128x128, 1.0f),
                               HEED_LARGE_TILE(f32, F32, 64x64, 0.7f)};
constexpr std::array kBf16FewRows{FewRows{"few_8", kBf16Few8, "matmul_bf16_few_8"},
                                  FewRows{"few_16", kBf16Few16, "matmul_bf16_few_16"},
                                  FewRows{"few_32", kBf16Few32, "matmul_bf16_few_32"},
                                  FewRows{"wide_64", kBf16Wide64, "matmul_bf16_wide_64"},
                                  FewRows{"middle_64", kBf16Middle64, "matmul_bf16_middle_64"},
                                  FewRows{"few_64", kBf16Few64, "matmul_bf16_few_64"},
                                  FewRows{"narrow_8", kBf16Narrow8, "matmul_bf16_narrow_8"},
                                  FewRows{"narrow_16", kBf16Narrow16, "matmul_bf16_narrow_16"}};
constexpr std::array kF32FewRows{FewRows{"few_4", kF32Few4, "matmul_f32_few_4"},
                                 FewRows{"few_16", kF32Few16, "matmul_f32_few_16"}};

template <typename Large, size_t large, typename Few, size_t few>
constexpr auto names_of_tiles(const std::array<Large, large>& tiles,
                              const std::array<Few, few>& few_rows) {
  std::array<std::string_view, large + few> names;
  for (size_t i = 0; i < large; ++i) names[i] = tiles[i].name;
  for (size_t i = 0; i < few; ++i) names[large + i] = few_rows[i].name;
  return names;
}

thread_local std::string_view forced_tile;

/// A factor in the memory of the GPU, as kernels read it.
struct Operand {
  Tensor matrix;
  /// Whether its rows run along the depth.
  bool along;

  const void* elements() const { return memory(matrix); }
  int64_t stride() const { return matrix.cols(); }
};

bool has_whole_chunks(const Tensor& matrix) {
  return matrix.row_bytes() % kChunkBytes == 0 &&
         reinterpret_cast<uintptr_t>(memory(matrix)) % kChunkBytes == 0;
}

/// A copy of a factor's matrix, or of its transpose, with zeros up to whole chunks.
Tensor copy_of(const Tensor& matrix, bool transposed) {
  const int64_t rows = transposed ? matrix.cols() : matrix.rows();
  const int64_t columns = transposed ? matrix.rows() : matrix.cols();
  const int64_t element = size_of(matrix.dtype());
  Tensor copy = Tensor::empty({rows, round_up(columns, kChunkBytes / element)}, matrix.dtype());
  if (copy.elements() == 0) return copy;
  launch(matrix.dtype() == DType::f32 ? "matmul_copy_f32" : "matmul_copy_bf16",
         {.x = blocks_for(copy.cols(), kMatmulCopyTile),
          .y = blocks_for(rows, kMatmulCopyTile),
          .threads = 256,
          .shared_bytes = static_cast<size_t>(kMatmulCopyTile * (kMatmulCopyTile + 1) * element)},
         MatmulCopyArguments{.from = memory(matrix),
                             .to = memory(copy),
                             .from_stride = matrix.cols(),
                             .to_stride = copy.cols(),
                             .rows = static_cast<int>(rows),
                             .columns = static_cast<int>(columns),
                             .transposed = transposed});
  return copy;
}

/// `turned`: rows are to run the other way.
Operand operand_of(const Tensor& matrix, bool along, bool turned = false) {
  if (!turned && has_whole_chunks(matrix)) return {matrix, along};
  return {copy_of(matrix, turned), along != turned};
}

/// The kernel for few rows of a, or null.
template <size_t count>
const FewRows* few_rows_kernel(const std::array<FewRows, count>& kernels, int64_t m, int64_t n) {
  const FewRows* found = nullptr;
  const GpuProperties& gpu = current_gpu().properties();
  bool fills = false;  // whether it gives most multiprocessors a block
  for (const FewRows& kernel : kernels) {
    if (m > kernel.tile.columns || kernel.tile.shared_bytes() > gpu.shared_bytes) continue;
    if (kernel.name == forced_tile) return &kernel;
    // The smallest that holds the rows; the widest that fills the GPU: a is read by every block.
    const bool narrower = found && kernel.tile.columns == found->tile.columns && !fills;
    if (found && !narrower) continue;
    found = &kernel;
    fills = ceil_div(n, kernel.tile.rows) * 4 > gpu.multiprocessors * 3;
  }
  return found;
}

template <size_t count>
const LargeTile& large_tile(const std::array<LargeTile, count>& tiles, int64_t m, int64_t n) {
  const GpuProperties& gpu = current_gpu().properties();
  const LargeTile* found = &tiles.back();
  float least = INFINITY;
  for (const LargeTile& of : tiles) {
    const MatmulTile& tile = of.tile;
    if (tile.shared_bytes() > gpu.shared_bytes) continue;
    if (of.name == forced_tile) return of;
    // How many blocks a multiprocessor computes, one after the other.
    const int64_t blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.columns);
    const int64_t at_a_time = int64_t{gpu.multiprocessors} * tile.blocks;
    const int64_t turns =
        blocks / at_a_time * tile.blocks + ceil_div(blocks % at_a_time, gpu.multiprocessors);
    const float time = static_cast<float>(turns * tile.rows * tile.columns) / of.speed;
    if (time < least) {
      least = time;
      found = &of;
    }
  }
  return *found;
}

void start_product(const char* kernel, const MatmulTile& tile, const MatmulArguments& in) {
  launch(kernel,
         {.x = blocks_for(in.rows, tile.rows) * blocks_for(in.columns, tile.columns),
          .threads = static_cast<unsigned>(tile.threads()),
          .shared_bytes = static_cast<size_t>(tile.shared_bytes())},
         in);
}

/// c = a b + bias (+ c); at least one of the factors runs along the depth.
template <size_t large, size_t few>
void multiply_floats(const std::array<LargeTile, large>& tiles,
                     const std::array<FewRows, few>& few_rows, const Operand& a, const Operand& b,
                     int64_t depth, const MatmulOptions& options, Tensor& c) {
  MatmulArguments in{.first = a.elements(),
                     .second = b.elements(),
                     .first_stride = a.stride(),
                     .second_stride = b.stride(),
                     .rows = static_cast<int>(c.rows()),
                     .columns = static_cast<int>(c.cols()),
                     .depth = static_cast<int>(depth),
                     .c = memory(c),
                     .bias = elements<float>(options.bias),
                     .c_stride = c.cols(),
                     .c_is_bf16 = c.dtype() == DType::bf16,
                     .accumulate = options.accumulate};
  const FewRows* const kernel =
      a.along && b.along ? few_rows_kernel(few_rows, c.rows(), c.cols()) : nullptr;
  if (kernel) {
    std::swap(in.first, in.second);
    std::swap(in.first_stride, in.second_stride);
    std::swap(in.rows, in.columns);
    return start_product(kernel->kernel, kernel->tile, in);
  }
  const LargeTile& tile = large_tile(tiles, c.rows(), c.cols());
  start_product(!a.along ? tile.tn : b.along ? tile.nt : tile.nn, tile.tile, in);
}

void multiply(const Operand& a, const Operand& b, int64_t depth, const MatmulOptions& options,
              Tensor& c) {
  visit_floating(c.dtype(), [](auto) {});
  visit_floating(a.matrix.dtype(), [&](auto zero) {
    if constexpr (dtype_of<decltype(zero)> == DType::f32)
      multiply_floats(kF32Tiles, kF32FewRows, a, b, depth, options, c);
    else
      multiply_floats(kBf16Tiles, kBf16FewRows, a, b, depth, options, c);
  });
}

}  // namespace

std::span<const std::string_view> matmul_tiles(DType dtype) {
  static constexpr auto kF32 = names_of_tiles(kF32Tiles, kF32FewRows);
  static constexpr auto kBf16 = names_of_tiles(kBf16Tiles, kBf16FewRows);
  static constexpr auto kBlocks = names_of_tiles(kBlockTileCosts, std::array<BlockTileCost, 0>());
  if (dtype == DType::f32) return kF32;
  if (dtype == DType::bf16) return kBf16;
  return kBlocks;
}

ForcedMatmulTile::ForcedMatmulTile(std::string_view name) : before_(forced_tile) {
  forced_tile = name;
}
ForcedMatmulTile::~ForcedMatmulTile() { forced_tile = before_; }
std::string_view forced_matmul_tile() { return forced_tile; }

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  require(a.matrix.dtype() == b.matrix.dtype(), "matmul: a is {}, b is {}, expected one dtype",
          name_of(a.matrix.dtype()), name_of(b.matrix.dtype()));
  visit_floating(a.matrix.dtype(), [](auto) {});
  if (c.elements() == 0) return;
  // There is no kernel for two transposed factors.
  const bool turned = a.transposed && b.transposed;
  multiply(operand_of(a.matrix, !a.transposed, turned), operand_of(b.matrix, b.transposed),
           a.cols(), options, c);
}

/// [N, K], with zeros up to whole chunks: the matrix itself where it is that already.
PackedMatrix pack(const Factor& b) {
  visit_floating(b.matrix.dtype(), [](auto) {});
  return {.panels = operand_of(b.matrix.to(current_device()), b.transposed, !b.transposed).matrix,
          .rows = b.rows(),
          .cols = b.cols()};
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  require(!b.kernel && b.panels.device() == current_device(),
          "matmul_packed: b was packed by another backend");
  require(a.dtype() == b.panels.dtype(), "matmul_packed: a is {}, b was packed as {}",
          name_of(a.dtype()), name_of(b.panels.dtype()));
  if (c.elements() == 0) return;
  multiply(operand_of(a, true), {b.panels, true}, b.rows, options, c);
}

}  // namespace heed::kernels::gpu
