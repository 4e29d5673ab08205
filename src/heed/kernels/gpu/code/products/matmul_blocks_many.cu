// Products of many rows with blocks. Strips of a weight and rows of a come through shared memory;
// each warp multiplies some of both.
#include "heed/kernels/gpu/code/products/block_ring.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename Block, BlockTile tile>
class ManyTile {
  static constexpr BlockLayout kLayout = kBlockLayout<Block>;
  static constexpr int kStrips = tile.warp_strips, kGroups = tile.warp_groups;
  using Ring = BlockRing<tile, used_record_bytes(kMinimums<Block>), Record::kBytes, kLayout.bytes,
                         kLayout.quads>;

  const MatmulBlocksArguments& in_;
  const int lane_;
  const WarpPlace<tile> place_;
  float sums_[kStrips][kGroups][4] = {};

 public:
  HEED_DEVICE explicit ManyTile(const MatmulBlocksArguments& in)
      : in_(in), lane_(static_cast<int>(thread_index() % 32)) {}

  HEED_DEVICE void run() {
    int block;
    const MatmulBlocksArguments::Product& product = own_product(in_, block);
    const int quads = quads_of(in_), first_strip = block * tile.strips;
    const auto strip_bytes = static_cast<int>(strip_of<Block>(in_, product, 1) - product.weight);
    Ring ring({product.weight, in_.records, strip_bytes, product.rows, in_.rows, quads},
              first_strip);
    const bool works = place_.strip < ring.strips() && place_.group < ring.groups();
    for (int quad = 0; quad < quads; ++quad) {
      ring.advance(quad);
      if (works) multiply(ring, quad);
    }
    if (works) put();
  }

 private:
  HEED_DEVICE void multiply(const Ring& ring, int quad) {
    PackedQuad<Block> weight[kStrips];
    HEED_UNROLL for (int s = 0; s < kStrips; ++s)
      weight[s].template load<false>(ring.strip(quad, place_.strip + s), quad % kLayout.quads,
                                     lane_);
    // Without branches, products of one unit hide those of another.
    if (Block::kElements == kQuadUnits * kUnitElements * kLayout.quads ||
        (quad + 1) * Record::kUnits <= in_.units)
      multiply_units<true>(ring, weight, quad);
    else
      multiply_units<false>(ring, weight, quad);
  }

  template <bool whole>
  HEED_DEVICE void multiply_units(const Ring& ring, const PackedQuad<Block> (&weight)[kStrips],
                                  int quad) {
    const int t = lane_ % 4;
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      if (!whole && quad * Record::kUnits + u >= in_.units) break;
      UnitOperand<Block> units[kStrips];
      HEED_UNROLL for (int s = 0; s < kStrips; ++s) units[s] = weight[s].unit(u);
      HEED_UNROLL for (int j = 0; j < kGroups; ++j) {
        const std::byte* const record = ring.record(quad, place_.group + j);
        uint32_t a[2], scales[2];
        float of_a[2][2];
        load_words<2>(record + (u * 32 + lane_) * 8, a);
        load_words<2>(record + Record::kScales + (t * Record::kUnits + u) * 8, scales);
        load_sums<Block>(record, t, u, of_a);
        HEED_UNROLL for (int s = 0; s < kStrips; ++s) {
          float part[4];
          multiply_unit<Block, 2>(units[s], a, of_a, part);
          HEED_UNROLL for (int i = 0; i < 4; ++i)
            sums_[s][j][i] = fmaf(float_of_bits(scales[i % 2]), part[i], sums_[s][j][i]);
        }
      }
    }
  }

  /// Looks for the product again, so that the loop before has the registers.
  HEED_DEVICE void put() const {
    int block;
    const MatmulBlocksArguments::Product& product = own_product(in_, block);
    const int first_column = block * tile.weight_rows();
    HEED_UNROLL for (int s = 0; s < kStrips; ++s)
      HEED_UNROLL for (int j = 0; j < kGroups; ++j)
        HEED_UNROLL for (int i = 0; i < 4; ++i) {
          const int column = first_column + place_.column(s, lane_, i);
          const int row = place_.row(j, lane_, i);
          if (column < product.rows && row < in_.rows)
            put_element(product, row, column, sums_[s][j][i]);
        }
  }
};

}  // namespace

#define HEED_MATMUL_BLOCKS_TILE(size, name, Block)                                     \
  HEED_GPU_KERNEL_OF(kBlockTile##size.threads(), kBlockTile##size.blocks,              \
                     matmul_blocks_##size##_##name, MatmulBlocksArguments, in) {       \
    ManyTile<Block, kBlockTile##size>(in).run();                                       \
  }
#define HEED_MATMUL_BLOCKS_MANY(name, Block)       \
  HEED_MATMUL_BLOCKS_TILE(128x128, name, Block)    \
  HEED_MATMUL_BLOCKS_TILE(64x64, name, Block)      \
  HEED_MATMUL_BLOCKS_TILE(32x64, name, Block)
HEED_FOR_BLOCK_TYPES(HEED_MATMUL_BLOCKS_MANY)

}  // namespace heed::kernels::gpu
