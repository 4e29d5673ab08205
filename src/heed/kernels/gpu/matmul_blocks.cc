#include "heed/kernels/matmul_blocks.h"

#include <algorithm>
#include <array>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/code/blocks/block_planes.h"
#include "heed/kernels/gpu/code/blocks/pack_blocks.h"
#include "heed/kernels/gpu/code/products/matmul_blocks.h"
#include "heed/kernels/gpu/grouped_products.h"
#include "heed/kernels/gpu/kernel_names.h"

namespace heed::kernels::gpu {
namespace {

constexpr KernelNames kPackBlocks("pack_blocks");
/// For 1, 8 and 16 rows of a.
constexpr KernelNames kBlocks1("matmul_blocks_1"), kBlocks8("matmul_blocks_8"),
    kBlocks16("matmul_blocks_16");
/// As kBlockTileCosts.
constexpr std::array<KernelNames, kBlockTileCosts.size()> kBlockTiles{
    KernelNames("matmul_blocks_128x128"), KernelNames("matmul_blocks_64x64"),
    KernelNames("matmul_blocks_32x64")};

constexpr unsigned kPackThreads = 128, kQuantiseThreads = 256;
/// Rows of a up to which the kernels for few are faster, whose warps share the depth.
constexpr int64_t kFewRows = 16;

int64_t units_of(int64_t cols) { return cols / kUnitElements; }

/// Bytes of a packed strip.
int64_t strip_bytes(DType dtype, int64_t cols) {
  const BlockLayout layout(traits_of(dtype));
  return ceil_div(units_of(cols), int64_t{kQuadUnits * layout.quads}) * layout.bytes;
}

/// Packs rows [begin, end) of a weight, from a multiple of 16 on; their bytes are on the GPU.
void pack_rows(const std::byte* from, const Tensor& weight, int64_t begin, int64_t end,
               std::byte* to) {
  const BlockLayout layout(traits_of(weight.dtype()));
  const int64_t units = units_of(weight.cols());
  const int64_t quads = ceil_div(units, int64_t{kQuadUnits * layout.quads}) * layout.quads;
  const int64_t lanes = ceil_div(end - begin, int64_t{kStripRows}) * quads * 32;
  if (lanes == 0) return;
  launch(kPackBlocks.of(weight.dtype()),
         {.x = blocks_for(lanes, kPackThreads), .threads = kPackThreads},
         PackBlocksArguments{
             from, to + begin / kStripRows * strip_bytes(weight.dtype(), weight.cols()),
             static_cast<int>(end - begin), static_cast<int>(units), weight.row_bytes()});
}

PackedBlocks pack_weight(const Tensor& weight) {
  require(multiplies_blocks(weight.dtype()), "pack_blocks: the weight is {}, expected blocks",
          name_of(weight.dtype()));
  const int64_t rows = weight.rows(), strips = ceil_div(rows, int64_t{kStripRows});
  const int64_t bytes = strips * strip_bytes(weight.dtype(), weight.cols());
  PackedBlocks packed{.panels = current_gpu().allocate(static_cast<size_t>(bytes)),
                      .panel_bytes = bytes,
                      .dtype = weight.dtype(),
                      .rows = rows,
                      .cols = weight.cols(),
                      .device = current_device()};
  for_slices(weight, [&](const std::byte* from, int64_t begin, int64_t end) {
    pack_rows(from, weight, begin, end, packed.panels.get());
  });
  return packed;
}

/// The rows of a as records.
std::shared_ptr<std::byte> quantised(const Tensor& a) {
  const int64_t units = units_of(a.cols()), quads = ceil_div(units, int64_t{Record::kUnits});
  const int64_t groups = ceil_div(a.rows(), int64_t{Record::kRows});
  auto records = current_gpu().allocate(static_cast<size_t>(groups * quads * Record::kBytes));
  if (units > 0)
    launch(a.dtype() == DType::f32 ? "quantise_blocks_f32" : "quantise_blocks_bf16",
           {.x = blocks_for(a.rows() * quads, kQuantiseThreads / 32), .threads = kQuantiseThreads},
           QuantiseBlocksArguments{memory(a), records.get(), static_cast<int>(a.rows()),
                                   static_cast<int>(units)});
  return records;
}

/// Products with weights of one type.
void start_products(const Tensor& a, std::span<const BlockProduct> products,
                    const std::byte* records) {
  const DType dtype = products[0].weight->dtype;
  MatmulBlocksArguments in{.products = {},
                           .count = 0,
                           .records = records,
                           .rows = static_cast<int>(a.rows()),
                           .units = static_cast<int>(units_of(a.cols()))};
  if (a.rows() <= kFewRows && forced_matmul_tile().empty()) {
    const int columns = a.rows() == 1 ? 1 : a.rows() <= 8 ? 8 : 16;
    const unsigned blocks = put_products(products, kStripRows, in);
    if (blocks == 0) return;
    const KernelNames& kernels = columns == 1 ? kBlocks1 : columns == 8 ? kBlocks8 : kBlocks16;
    return launch(kernels.of(dtype),
                  {.x = blocks, .threads = kFewThreads, .shared_bytes = few_shared_bytes(columns)},
                  in);
  }
  const BlockTraits& type = traits_of(dtype);
  const BlockLayout layout(type);
  const int minimums = !type.has_minimum ? 0 : has_halves(type) ? 2 : 1;
  const auto shared_bytes = [&](const BlockTile& tile) {
    return tile.shared_bytes(used_record_bytes(minimums), layout.bytes, layout.quads);
  };
  const size_t index = block_tile(products, a.rows(), shared_bytes);
  const BlockTile& tile = kBlockTileCosts[index].tile;
  const unsigned blocks = put_products(products, tile.weight_rows(), in);
  if (blocks > 0)
    launch(kBlockTiles[index].of(dtype), tile_shape(tile, blocks, a.rows(), shared_bytes(tile)),
           in);
}

}  // namespace

std::vector<PackedBlocks> pack_blocks_grouped(std::span<const Tensor> weights) {
  std::vector<PackedBlocks> packed;
  packed.reserve(weights.size());
  for (const Tensor& weight : weights) packed.push_back(pack_weight(weight));
  return packed;
}

void matmul_blocks_grouped(const Tensor& a, std::span<const BlockProduct> products) {
  check_gpu_products("matmul_blocks", a, products);
  if (products.empty() || a.rows() == 0) return;
  const auto records = quantised(a);
  while (!products.empty()) {
    const DType dtype = products[0].weight->dtype;
    const auto other = std::ranges::find_if(
        products, [&](const BlockProduct& product) { return product.weight->dtype != dtype; });
    const size_t count = std::min<size_t>(static_cast<size_t>(other - products.begin()),
                                          MatmulBlocksArguments::kMaxProducts);
    start_products(a, products.first(count), records.get());
    products = products.subspan(count);
  }
}

}  // namespace heed::kernels::gpu
