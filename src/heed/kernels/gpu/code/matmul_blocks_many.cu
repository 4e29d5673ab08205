// Products of many rows with blocks. Each warp has 32 rows of a weight, which it reads straight into
// registers, and 64 rows of a, which come through shared memory.
#include "heed/kernels/gpu/code/block_product.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kRowGroups = kManyRows / Record::kRows;  // of a block
constexpr int kWeightWarps = 4, kWarpStrips = 2, kWarpGroups = 8;
static_assert(kWeightWarps * kWarpStrips * kStripRows == kManyWeightRows &&
              kManyThreads / 32 / kWeightWarps * kWarpGroups == kRowGroups);

template <typename Block>
class ManyTile {
  static constexpr int kRecord = many_record_bytes(kMinimums<Block>);

  const MatmulBlocksArguments& in_;
  std::byte* const shared_;
  const int lane_, quads_;
  float sums_[kWarpStrips][kWarpGroups][4] = {};

 public:
  HEED_DEVICE explicit ManyTile(const MatmulBlocksArguments& in)
      : in_(in),
        shared_(shared_memory<std::byte>()),
        lane_(static_cast<int>(thread_index() % 32)),
        quads_(quads_of(in)) {}

  HEED_DEVICE void run() {
    int tile;
    const MatmulBlocksArguments::Product& product = own_product(in_, tile);
    const int warp = static_cast<int>(thread_index() / 32);
    const int strips = (product.rows + kStripRows - 1) / kStripRows;
    const int first_strip = (tile * kWeightWarps + warp % kWeightWarps) * kWarpStrips;
    const int first_group = warp / kWeightWarps * kWarpGroups;
    const std::byte* weights[kWarpStrips];
    HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s)
      // Strips that there are not are multiplied as well, but not stored.
      weights[s] = strip_of<Block>(in_, product, first_strip + s < strips ? first_strip + s : 0);
    PackedQuad<Block> next[kWarpStrips];
    HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s)
      if (quads_ > 0) next[s].template load<false>(weights[s], 0, lane_);
    for (int stage = 0; stage < kManyStages - 1; ++stage) copy_records(stage);
    for (int quad = 0; quad < quads_; ++quad) {
      PackedQuad<Block> now[kWarpStrips];
      HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s) {
        now[s] = next[s];
        if (quad + 1 < quads_) next[s].template load<false>(weights[s], quad + 1, lane_);
      }
      wait_for_copies<kManyStages - 2>();
      synchronize();
      copy_records(quad + kManyStages - 1);
      multiply(now, quad, first_group);
    }
    put(product, first_strip, first_group);
  }

 private:
  /// Starts to copy a quad of the block's rows of a.
  HEED_DEVICE void copy_records(int quad) {
    constexpr int kPieces = kRecord / 16;
    const int groups = (in_.rows + Record::kRows - 1) / Record::kRows;
    const int first = static_cast<int>(block_y()) * kRowGroups;
    if (quad < quads_)
      for (int i = static_cast<int>(thread_index()); i < kRowGroups * kPieces; i += kManyThreads) {
        const int group = i / kPieces;
        // Groups that there are not are not stored.
        const int64_t from = first + group < groups ? first + group : first;
        copy_async_16(shared_ + quad % kManyStages * kRowGroups * kRecord + i * 16,
                      in_.records + (from * quads_ + quad) * Record::kBytes + i % kPieces * 16);
      }
    commit_copies();
  }

  HEED_DEVICE void multiply(const PackedQuad<Block> (&weight)[kWarpStrips], int quad,
                            int first_group) {
    const std::byte* const records =
        shared_ + (quad % kManyStages * kRowGroups + first_group) * kRecord;
    const int t = lane_ % 4;
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      if (quad * Record::kUnits + u >= in_.units) break;
      UnitOperand<Block> units[kWarpStrips];
      HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s) units[s] = weight[s].unit(u);
      HEED_UNROLL for (int j = 0; j < kWarpGroups; ++j) {
        const std::byte* const record = records + j * kRecord;
        uint32_t a[2], scales[2];
        float of_a[2][2];
        load_words<2>(record + (u * 32 + lane_) * 8, a);
        load_words<2>(record + Record::kScales + (t * Record::kUnits + u) * 8, scales);
        load_sums<Block>(record, t, u, of_a);
        HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s) {
          float part[4];
          multiply_unit<Block, 2>(units[s], a, of_a, part);
          HEED_UNROLL for (int i = 0; i < 4; ++i)
            sums_[s][j][i] = fmaf(float_of_bits(scales[i % 2]), part[i], sums_[s][j][i]);
        }
      }
    }
  }

  HEED_DEVICE void put(const MatmulBlocksArguments::Product& product, int first_strip,
                       int first_group) const {
    HEED_UNROLL for (int s = 0; s < kWarpStrips; ++s)
      HEED_UNROLL for (int j = 0; j < kWarpGroups; ++j)
        HEED_UNROLL for (int i = 0; i < 4; ++i) {
          const int column = (first_strip + s) * kStripRows + lane_ / 4 + i / 2 * 8;
          const int row = static_cast<int>(block_y()) * kManyRows +
                          (first_group + j) * Record::kRows + lane_ % 4 * 2 + i % 2;
          if (column < product.rows && row < in_.rows)
            put_element(product, row, column, sums_[s][j][i]);
        }
  }
};

}  // namespace

#define HEED_MATMUL_BLOCKS_MANY(name, Block)                              \
  HEED_GPU_KERNEL(matmul_blocks_many_##name, MatmulBlocksArguments, in) { \
    ManyTile<Block>(in).run();                                            \
  }
HEED_FOR_BLOCK_TYPES(HEED_MATMUL_BLOCKS_MANY)

}  // namespace heed::kernels::gpu
