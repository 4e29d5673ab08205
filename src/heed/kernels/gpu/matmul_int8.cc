#include "heed/kernels/matmul_int8.h"

#include <algorithm>
#include <array>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/blocks/block_planes.h"
#include "heed/kernels/gpu/code/products/matmul_int8.h"
#include "heed/kernels/gpu/grouped_products.h"
#include "heed/kernels/gpu/kernel_names.h"

namespace heed::kernels::gpu {
namespace {

constexpr KernelNames kPackInt8("pack_int8");

/// As kBlockTileCosts.
constexpr std::array<const char*, kBlockTileCosts.size()> kInt8TileKernels{
    "matmul_int8_128x128", "matmul_int8_64x64", "matmul_int8_32x64"};

/// Rows of a up to which matmul_int8_few is faster, whose warps share the depth.
constexpr int64_t kInt8FewRows = 16;

int64_t int8_quads(int64_t cols) { return ceil_div(cols, int64_t{kQuadUnits * kUnitElements}); }

/// One block of threads for each of `blocks` rows.
void start_quantise(const char* kernel, int64_t blocks, const QuantiseInt8Arguments& in) {
  if (blocks == 0) return;
  launch(kernel,
         {.x = static_cast<unsigned>(blocks),
          .threads = kQuantiseInt8Threads,
          .shared_bytes = kQuantiseInt8Threads / 32 * sizeof(uint32_t)},
         in);
}

struct QuantisedInt8 {
  std::shared_ptr<std::byte> records, scales;
};

QuantisedInt8 quantised_int8(const Tensor& a) {
  const int64_t quads = int8_quads(a.cols()), groups = ceil_div(a.rows(), int64_t{Record::kRows});
  QuantisedInt8 to{current_gpu().allocate(static_cast<size_t>(groups * quads * kInt8RecordBytes)),
                   current_gpu().allocate(static_cast<size_t>(a.rows()) * sizeof(float))};
  start_quantise(a.dtype() == DType::f32 ? "quantise_int8_f32" : "quantise_int8_bf16", a.rows(),
                 {.x = memory(a),
                  .quants = to.records.get(),
                  .scales = reinterpret_cast<float*>(to.scales.get()),
                  .rows = static_cast<int>(a.rows()),
                  .columns = static_cast<int>(a.cols()),
                  .quads = static_cast<int>(quads),
                  .row_bytes = a.row_bytes()});
  return to;
}

}  // namespace

PackedInt8 pack_int8(const Tensor& weight) {
  require(weight.cols() <= kMaxInt8Cols, "pack_int8: the weight has {} columns, at most {} are",
          weight.cols(), kMaxInt8Cols);
  require(weight.dtype() != DType::i32, "pack_int8: the weight is i32, expected real numbers");
  const int64_t quads = int8_quads(weight.cols()), rows = weight.rows();
  const int64_t strips = ceil_div(rows, int64_t{kStripRows}), strip_bytes = quads * kInt8QuadBytes;
  const int64_t bytes = strips * (strip_bytes + int64_t{kStripRows * sizeof(float)});
  PackedInt8 packed{.panels = current_gpu().allocate(static_cast<size_t>(bytes)),
                    .panel_bytes = bytes,
                    .rows = rows,
                    .cols = weight.cols(),
                    .device = current_device()};
  auto* const scales = reinterpret_cast<float*>(packed.panels.get() + strips * strip_bytes);
  for_slices(weight, [&](const std::byte* from, int64_t begin, int64_t end) {
    start_quantise(kPackInt8.of(weight.dtype()), round_up(end - begin, int64_t{kStripRows}),
                   {.x = from,
                    .quants = packed.panels.get() + begin / kStripRows * strip_bytes,
                    .scales = scales + begin,
                    .rows = static_cast<int>(end - begin),
                    .columns = static_cast<int>(weight.cols()),
                    .quads = static_cast<int>(quads),
                    .row_bytes = weight.row_bytes()});
  });
  return packed;
}

namespace {

/// At most as many products as a launch has.
void start_int8_products(std::span<const Int8Product> products, MatmulInt8Arguments& in) {
  const int64_t rows = in.products.rows;
  if (rows <= kInt8FewRows && forced_matmul_tile().empty()) {
    const unsigned blocks = put_products(products, kStripRows, in.products);
    if (blocks == 0) return;
    return launch("matmul_int8_few",
                  {.x = blocks,
                   .y = blocks_for(rows, Record::kRows),
                   .threads = kInt8FewWarps * 32,
                   .shared_bytes = kInt8FewSharedBytes},
                  in);
  }
  const auto shared_bytes = [](const BlockTile& tile) {
    return tile.shared_bytes(kInt8RecordBytes, kInt8QuadBytes, 1);
  };
  const size_t index = block_tile(products, rows, shared_bytes);
  const BlockTile& tile = kBlockTileCosts[index].tile;
  const unsigned blocks = put_products(products, tile.weight_rows(), in.products);
  if (blocks > 0)
    launch(kInt8TileKernels[index], tile_shape(tile, blocks, rows, shared_bytes(tile)), in);
}

}  // namespace

void matmul_int8_grouped(const Tensor& a, std::span<const Int8Product> products) {
  check_gpu_products("matmul_int8", a, products);
  if (products.empty() || a.rows() == 0) return;
  const QuantisedInt8 quantised = quantised_int8(a);
  while (!products.empty()) {
    const size_t count = std::min<size_t>(products.size(), MatmulBlocksArguments::kMaxProducts);
    MatmulInt8Arguments in{.products = {},
                           .row_scales = reinterpret_cast<const float*>(quantised.scales.get())};
    in.products.records = quantised.records.get();
    in.products.rows = static_cast<int>(a.rows());
    in.products.units = static_cast<int>(int8_quads(a.cols()) * kQuadUnits);
    start_int8_products(products.first(count), in);
    products = products.subspan(count);
  }
}

}  // namespace heed::kernels::gpu
