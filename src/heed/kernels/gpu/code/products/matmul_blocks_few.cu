// Products of a few rows with blocks: as fast as memory is read.
//
// A block of threads has 16 rows of a weight. Each warp multiplies its share of the units and
// leaves what they add to the elements of c in shared memory. There one more warp adds it up, in
// the order of the units, while the others work on the next ones.
#include "heed/kernels/gpu/code/products/block_product.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kChunkUnits = kFewWarps * Record::kUnits;

/// Shared memory, twice: parts [unit][16 rows of the weight][columns], scales [unit][8 or more].
template <int columns>
struct FewShared {
  static constexpr int kScaleColumns = (columns + 7) / 8 * 8;
  float parts[kChunkUnits][kStripRows][columns];
  float scales[kChunkUnits / Record::kUnits][kScaleColumns / 8][4][Record::kUnits][2];
};
static_assert(2 * sizeof(FewShared<1>) == few_shared_bytes(1));
static_assert(2 * sizeof(FewShared<8>) == few_shared_bytes(8));
static_assert(2 * sizeof(FewShared<16>) == few_shared_bytes(16));

/// A lane's part of what a warp multiplies at a time: a quad of a strip and of rows of a.
template <typename Block, int columns>
struct FewQuad {
  static constexpr int kGroups = (columns + 7) / 8;
  PackedQuad<Block> weight;
  uint32_t a[kGroups][Record::kUnits][2];
  float sums[kGroups][Record::kUnits][2][2];
  float scale[kGroups];  // number `lane` of the record's

  /// rows: of a that there are, from the first record on.
  HEED_DEVICE void load(const std::byte* strip, const std::byte* records, int64_t group_bytes,
                        int quad, int lane, int rows) {
    weight.template load<true>(strip, quad, lane);
    const std::byte* record = records + static_cast<int64_t>(quad) * Record::kBytes;
    HEED_UNROLL for (int group = 0; group < kGroups; ++group, record += group_bytes) {
      const bool exists = group * Record::kRows + lane / 4 < rows;
      // The last group may be missing; its lanes then load what is not used.
      const std::byte* const from = group * Record::kRows < rows ? record : records;
      HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
        a[group][u][0] = a[group][u][1] = 0;
        if (exists) load_words<2>(from + (u * 32 + lane) * 8, a[group][u]);
        load_sums<Block>(from, lane % 4, u, sums[group][u]);
      }
      scale[group] = reinterpret_cast<const float*>(from + Record::kScales)[lane];
    }
  }

  HEED_DEVICE void multiply(int warp, int lane, FewShared<columns>& to) const {
    const int g = lane / 4, t = lane % 4;
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      const UnitOperand<Block> unit = weight.unit(u);
      HEED_UNROLL for (int group = 0; group < kGroups; ++group) {
        float part[4];
        multiply_unit<Block, columns == 1 ? 1 : 2>(unit, a[group][u], sums[group][u], part);
        HEED_UNROLL for (int p = 0; p < 2; ++p) {
          float* const row = to.parts[warp * Record::kUnits + u][g + 8 * p];
          if constexpr (columns == 1) {
            if (t == 0) row[0] = part[2 * p];
          } else {
            *reinterpret_cast<Words2*>(row + group * 8 + 2 * t) = {
                {bits_of_float(part[2 * p]), bits_of_float(part[2 * p + 1])}};
          }
        }
      }
    }
    HEED_UNROLL for (int group = 0; group < kGroups; ++group)
      (&to.scales[warp][group][0][0][0])[lane] = scale[group];
  }
};

/// Adds up: a lane has some columns of a row of the weight.
template <int columns>
class FewSums {
  static constexpr int kOwn = columns == 1 ? 1 : columns / 2;

  int row_, first_;
  float sums_[kOwn] = {};

 public:
  HEED_DEVICE explicit FewSums(int lane)
      : row_(columns == 1 ? lane % kStripRows : lane / 2),
        first_(columns == 1 ? 0 : lane % 2 * kOwn) {}

  HEED_DEVICE void add(const FewShared<columns>& from, int units) {
    if (units >= kChunkUnits) {
      HEED_UNROLL for (int quad = 0; quad < kFewWarps; ++quad) add_quad(from, quad, kChunkUnits);
    } else {
      for (int quad = 0; quad * Record::kUnits < units; ++quad) add_quad(from, quad, units);
    }
  }

  HEED_DEVICE void put(const MatmulBlocksArguments::Product& product, int lane, int first_row,
                       int rows, int first_column) const {
    const int column = first_column + row_;
    if (column >= product.rows || (columns == 1 && lane >= kStripRows)) return;
    for (int i = 0; i < kOwn; ++i)
      if (first_ + i < rows) put_element(product, first_row + first_ + i, column, sums_[i]);
  }

 private:
  HEED_DEVICE void add_quad(const FewShared<columns>& from, int quad, int units) {
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      const int unit = quad * Record::kUnits + u;
      const float* const parts = &from.parts[unit][row_][first_];
      if (unit < units)
        HEED_UNROLL for (int i = 0; i < kOwn; ++i) {
          const int column = first_ + i;
          const float scale = from.scales[quad][column / 8][column % 8 / 2][u][column % 2];
          sums_[i] = fmaf(scale, parts[i], sums_[i]);
        }
    }
  }
};

template <typename Block, int columns>
HEED_DEVICE void multiply_few(const MatmulBlocksArguments& in) {
  auto* const shared = shared_memory<FewShared<columns>>();
  int strip;
  const MatmulBlocksArguments::Product& product = own_product(in, strip);
  const int lane = static_cast<int>(thread_index() % 32);
  const int warp = static_cast<int>(thread_index() / 32), first_row = static_cast<int>(block_y()) *
                                                                       columns;
  const int rows = in.rows - first_row, quads = quads_of(in);
  const int chunks = (in.units + kChunkUnits - 1) / kChunkUnits;
  const bool adds = warp == kFewWarps;
  const std::byte* const weight = strip_of<Block>(in, product, strip);
  const int64_t group_bytes = static_cast<int64_t>(quads) * Record::kBytes;
  const std::byte* const records = in.records + first_row / Record::kRows * group_bytes;
  FewSums<columns> sums(lane);   // of the warp that adds up
  FewQuad<Block, columns> next;  // of the others
  if (!adds && warp < quads) next.load(weight, records, group_bytes, warp, lane, rows);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!adds) {
      const int quad = chunk * kFewWarps + warp;
      const FewQuad<Block, columns> now = next;
      if (quad + kFewWarps < quads)
        next.load(weight, records, group_bytes, quad + kFewWarps, lane, rows);
      if (quad < quads) now.multiply(warp, lane, shared[chunk % 2]);
    }
    synchronize();  // the only one: all warps have to wait at the same place
    if (adds) sums.add(shared[chunk % 2], in.units - chunk * kChunkUnits);
  }
  if (adds) sums.put(product, lane, first_row, rows, strip * kStripRows);
}

}  // namespace

#define HEED_MATMUL_BLOCKS_FEW(name, Block)                                      \
  HEED_GPU_KERNEL(matmul_blocks_1_##name, MatmulBlocksArguments, in) {           \
    multiply_few<Block, 1>(in);                                                  \
  }                                                                              \
  HEED_GPU_KERNEL(matmul_blocks_8_##name, MatmulBlocksArguments, in) {           \
    multiply_few<Block, 8>(in);                                                  \
  }                                                                              \
  HEED_GPU_KERNEL_OF(kFewThreads, 1, matmul_blocks_16_##name, MatmulBlocksArguments, in) { \
    multiply_few<Block, 16>(in);                                                 \
  }
HEED_FOR_BLOCK_TYPES(HEED_MATMUL_BLOCKS_FEW)

}  // namespace heed::kernels::gpu
