#include "heed/kernels/gpu/code/matmul_int8.h"

#include "heed/kernels/gpu/code/block_product.h"

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

constexpr int kInt8RowGroups = kManyRows / Record::kRows;
constexpr int kInt8WeightWarps = 4, kInt8WarpStrips = 2, kInt8WarpGroups = 8;

/// Each warp has 32 rows of a weight, which it reads straight into registers, and 64 rows of a,
/// which come through shared memory.
class Int8Tile {
  const MatmulInt8Arguments& in_;
  std::byte* const shared_;
  const int lane_, quads_;
  int32_t dots_[kInt8WarpStrips][kInt8WarpGroups][4] = {};

 public:
  HEED_DEVICE explicit Int8Tile(const MatmulInt8Arguments& in)
      : in_(in),
        shared_(shared_memory<std::byte>()),
        lane_(static_cast<int>(thread_index() % 32)),
        quads_(quads_of(in.products)) {}

  HEED_DEVICE void run() {
    int tile;
    const MatmulBlocksArguments::Product& product = own_product(in_.products, tile);
    const int warp = static_cast<int>(thread_index() / 32);
    const int strips = (product.rows + kStripRows - 1) / kStripRows;
    const int first_strip = (tile * kInt8WeightWarps + warp % kInt8WeightWarps) * kInt8WarpStrips;
    const int first_group = warp / kInt8WeightWarps * kInt8WarpGroups;
    const std::byte* weights[kInt8WarpStrips];
    HEED_UNROLL for (int s = 0; s < kInt8WarpStrips; ++s)
      // Strips that there are not are not stored.
      weights[s] = int8_strip(product, quads_, first_strip + s < strips ? first_strip + s : 0) +
                   lane_ * 16;
    for (int stage = 0; stage < kInt8ManyStages - 1; ++stage) copy_records(stage);
    uint32_t next[kInt8WarpStrips][4];
    HEED_UNROLL for (int s = 0; s < kInt8WarpStrips; ++s)
      if (quads_ > 0) load_words<4>(weights[s], next[s]);
    for (int quad = 0; quad < quads_; ++quad) {
      wait_for_copies<kInt8ManyStages - 2>();
      synchronize();
      copy_records(quad + kInt8ManyStages - 1);
      const std::byte* const records =
          shared_ + (quad % kInt8ManyStages * kInt8RowGroups + first_group) * kInt8RecordBytes;
      HEED_UNROLL for (int u = 0; u < Record::kUnits; ++u)
        multiply(weights, next, quad * Record::kUnits + u, records + u * 256);
    }
    put(product, first_strip, first_group);
  }

 private:
  /// Multiplies with unit `unit`, which is in `next`, and loads the next one.
  HEED_DEVICE void multiply(const std::byte* const (&weights)[kInt8WarpStrips],
                            uint32_t (&next)[kInt8WarpStrips][4], int unit,
                            const std::byte* records) {
    uint32_t now[kInt8WarpStrips][4];
    HEED_UNROLL for (int s = 0; s < kInt8WarpStrips; ++s) {
      HEED_UNROLL for (int i = 0; i < 4; ++i) now[s][i] = next[s][i];
      if (unit + 1 < quads_ * Record::kUnits)
        load_words<4>(weights[s] + static_cast<int64_t>(unit + 1) * 512, next[s]);
    }
    HEED_UNROLL for (int j = 0; j < kInt8WarpGroups; ++j) {
      uint32_t a[2];
      load_words<2>(records + j * kInt8RecordBytes + lane_ * 8, a);
      HEED_UNROLL for (int s = 0; s < kInt8WarpStrips; ++s)
        mma_m16n8k32_s8(dots_[s][j], now[s], a);
    }
  }

  /// Starts to copy a quad of the block's rows of a.
  HEED_DEVICE void copy_records(int quad) {
    constexpr int kPieces = kInt8RecordBytes / 16;
    const int groups = (in_.products.rows + Record::kRows - 1) / Record::kRows;
    const int first = static_cast<int>(block_y()) * kInt8RowGroups;
    if (quad < quads_)
      for (int i = static_cast<int>(thread_index()); i < kInt8RowGroups * kPieces;
           i += kManyThreads) {
        const int group = i / kPieces;
        // Groups that there are not are not stored.
        const int64_t from = first + group < groups ? first + group : first;
        copy_async_16(
            shared_ + quad % kInt8ManyStages * kInt8RowGroups * kInt8RecordBytes + i * 16,
            in_.products.records + (from * quads_ + quad) * kInt8RecordBytes + i % kPieces * 16);
      }
    commit_copies();
  }

  HEED_DEVICE void put(const MatmulBlocksArguments::Product& product, int first_strip,
                       int first_group) const {
    HEED_UNROLL for (int s = 0; s < kInt8WarpStrips; ++s)
      HEED_UNROLL for (int j = 0; j < kInt8WarpGroups; ++j)
        HEED_UNROLL for (int i = 0; i < 4; ++i) {
          const int column = (first_strip + s) * kStripRows + lane_ / 4 + i / 2 * 8;
          const int row = static_cast<int>(block_y()) * kManyRows +
                          (first_group + j) * Record::kRows + lane_ % 4 * 2 + i % 2;
          if (column < product.rows && row < in_.products.rows)
            put_dot(in_, product, quads_, row, column, dots_[s][j][i]);
        }
  }
};

}  // namespace

HEED_GPU_KERNEL(matmul_int8_few, MatmulInt8Arguments, in) { multiply_few_int8(in); }
HEED_GPU_KERNEL(matmul_int8_many, MatmulInt8Arguments, in) { Int8Tile(in).run(); }

}  // namespace heed::kernels::gpu
