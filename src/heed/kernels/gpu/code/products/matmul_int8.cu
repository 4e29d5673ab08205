#include "heed/kernels/gpu/code/products/matmul_int8.h"

#include "heed/kernels/gpu/code/products/block_ring.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

HEED_DEVICE const std::byte* int8_strip(const MatmulBlocksArguments::Product& product, int quads,
                                        int strip) {
  return product.weight + static_cast<int64_t>(strip) * quads * kInt8QuadBytes;
}

/// c[row, column] = dot * (scale of the row * scale of the column) + bias.
HEED_DEVICE void put_dot(const MatmulInt8Arguments& in,
                         const MatmulBlocksArguments::Product& product, int quads, int row,
                         int column, int32_t dot) {
  const int strips = (product.rows + kStripRows - 1) / kStripRows;
  const auto* const scales = reinterpret_cast<const float*>(int8_strip(product, quads, strips));
  put_element(product, row, column,
              static_cast<float>(dot) * (in.row_scales[row] * scales[column]));
}

/// A quad of a strip and of eight rows of a.
struct Int8FewQuad {
  uint32_t weight[Record::kUnits][4], a[Record::kUnits][2];

  HEED_DEVICE void load(const std::byte* strip, const std::byte* records, int quad, int lane,
                        bool exists) {
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      load_words_once<4>(strip + static_cast<int64_t>(quad) * kInt8QuadBytes + u * 512 + lane * 16,
                         weight[u]);
      a[u][0] = a[u][1] = 0;
      if (exists)
        load_words<2>(
            records + static_cast<int64_t>(quad) * kInt8RecordBytes + (u * 32 + lane) * 8, a[u]);
    }
  }
};

/// Sums of integers are exact in any order: each warp has its share of the quads.
HEED_DEVICE void multiply_few_int8(const MatmulInt8Arguments& in) {
  int strip;
  const MatmulBlocksArguments::Product& product = own_product(in.products, strip);
  const int lane = static_cast<int>(thread_index() % 32);
  const int warp = static_cast<int>(thread_index() / 32), quads = quads_of(in.products);
  const int first_row = static_cast<int>(block_y()) * Record::kRows;
  const std::byte* const weight = int8_strip(product, quads, strip);
  const std::byte* const records =
      in.products.records + static_cast<int64_t>(block_y()) * quads * kInt8RecordBytes;
  const bool exists = first_row + lane / 4 < in.products.rows;
  int32_t dots[4] = {};
  Int8FewQuad next;
  if (warp < quads) next.load(weight, records, warp, lane, exists);
  for (int quad = warp; quad < quads; quad += kInt8FewWarps) {
    const Int8FewQuad now = next;
    if (quad + kInt8FewWarps < quads)
      next.load(weight, records, quad + kInt8FewWarps, lane, exists);
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u)
      mma_m16n8k32_s8(dots, now.weight[u], now.a[u]);
  }
  int32_t* const shared = shared_memory<int32_t>();  // [warp][row of the weight][row of a]
  HEED_UNROLL for (int i = 0; i < 4; ++i)
    shared[(warp * kStripRows + lane / 4 + i / 2 * 8) * Record::kRows + lane % 4 * 2 + i % 2] =
        dots[i];
  synchronize();
  const int thread = static_cast<int>(thread_index()), elements = kStripRows * Record::kRows;
  if (thread >= elements) return;
  const int row = first_row + thread / kStripRows, in_strip = thread % kStripRows;
  const int column = strip * kStripRows + in_strip;
  int32_t dot = 0;
  for (int i = 0; i < kInt8FewWarps; ++i)
    dot += shared[(i * kStripRows + in_strip) * Record::kRows + thread / kStripRows];
  if (row < in.products.rows && column < product.rows)
    put_dot(in, product, quads, row, column, dot);
}

template <BlockTile tile>
class Int8Tile {
  static constexpr int kStrips = tile.warp_strips, kGroups = tile.warp_groups;
  using Ring = BlockRing<tile, kInt8RecordBytes, kInt8RecordBytes, kInt8QuadBytes, 1>;

  const MatmulInt8Arguments& in_;
  const int lane_;
  const WarpPlace<tile> place_;
  int32_t dots_[kStrips][kGroups][4] = {};

 public:
  HEED_DEVICE explicit Int8Tile(const MatmulInt8Arguments& in)
      : in_(in), lane_(static_cast<int>(thread_index() % 32)) {}

  HEED_DEVICE void run() {
    int block;
    const MatmulBlocksArguments::Product& product = own_product(in_.products, block);
    const int quads = quads_of(in_.products), first_strip = block * tile.strips;
    Ring ring({product.weight, in_.products.records, kInt8QuadBytes * quads, product.rows,
               in_.products.rows, quads},
              first_strip);
    const bool works = place_.strip < ring.strips() && place_.group < ring.groups();
    for (int quad = 0; quad < quads; ++quad) {
      ring.advance(quad);
      if (works) multiply(ring, quad);
    }
    if (works) put(product, quads, first_strip * kStripRows);
  }

 private:
  HEED_DEVICE void multiply(const Ring& ring, int quad) {
    HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u) {
      uint32_t weight[kStrips][4];
      HEED_UNROLL for (int s = 0; s < kStrips; ++s)
        load_words<4>(ring.strip(quad, place_.strip + s) + u * 512 + lane_ * 16, weight[s]);
      HEED_UNROLL for (int j = 0; j < kGroups; ++j) {
        uint32_t a[2];
        load_words<2>(ring.record(quad, place_.group + j) + (u * 32 + lane_) * 8, a);
        HEED_UNROLL for (int s = 0; s < kStrips; ++s) mma_m16n8k32_s8(dots_[s][j], weight[s], a);
      }
    }
  }

  HEED_DEVICE void put(const MatmulBlocksArguments::Product& product, int quads,
                       int first_column) const {
    HEED_UNROLL for (int s = 0; s < kStrips; ++s)
      HEED_UNROLL for (int j = 0; j < kGroups; ++j)
        HEED_UNROLL for (int i = 0; i < 4; ++i) {
          const int column = first_column + place_.column(s, lane_, i);
          const int row = place_.row(j, lane_, i);
          if (column < product.rows && row < in_.products.rows)
            put_dot(in_, product, quads, row, column, dots_[s][j][i]);
        }
  }
};

}  // namespace

HEED_GPU_KERNEL(matmul_int8_few, MatmulInt8Arguments, in) { multiply_few_int8(in); }

#define HEED_MATMUL_INT8_TILE(size)                                                        \
  HEED_GPU_KERNEL_OF(kBlockTile##size.threads(), kBlockTile##size.blocks,                  \
                     matmul_int8_##size, MatmulInt8Arguments, in) {                        \
    Int8Tile<kBlockTile##size>(in).run();                                                  \
  }
HEED_FOR_BLOCK_TILES(HEED_MATMUL_INT8_TILE)

}  // namespace heed::kernels::gpu
