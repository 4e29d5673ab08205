#include "heed/kernels/gpu/code/attention/attention_fragment.h"

// Attention of bf16 on tensor cores. A warp has 16 rows, and takes tiles of 64 keys and values from
// shared memory, where the next one arrives meanwhile (Dao 2023, FlashAttention-2). Weights are
// rounded to bf16.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kTileStages = 2;

/// Rows of kKeys columns of k, and of kValues columns of v from first_value on; heads may have
/// fewer.
template <int kKeys, int kValues>
struct TiledBlock {
  // Rows of 16 bytes more, so that ldmatrix meets no bank twice.
  static constexpr int kKeyStride = kKeys + 8, kValueStride = kValues + 8;
  static constexpr int kStage = kTileKeys * (kKeyStride + kValueStride);
  static constexpr int kSums = kValues / 8;
  // Those of wide heads are read from shared memory for each tile.
  static constexpr bool kKeepsQueries = kKeys <= 128;
  static constexpr int kQueryWords = kKeys / 4, kKeptWords = kKeepsQueries ? kQueryWords : 1;

  const AttentionArguments& in;
  const AttentionItem& item;
  Bf16* const stages;
  const int thread, threads;
  const AttentionFragment rows;
  const int first_value, values_here;  // columns of v that the block has
  uint32_t* const shared_queries;      // [kQueryWords, threads], or empty

  int warp_begin, warp_end;  // keys that the warp's rows see
  uint32_t queries[kKeptWords];
  float sums[kSums][4];
  RowSoftmax softmax[2];

  HEED_DEVICE TiledBlock(const AttentionArguments& arguments, const AttentionItem& of, int g)
      : in(arguments),
        item(of),
        stages(shared_memory<Bf16>()),
        thread(static_cast<int>(thread_index())),
        threads(static_cast<int>(block_threads())),
        rows(arguments, of, g, thread / 32 * 16),
        first_value(static_cast<int>(block_y()) * kValues),
        values_here(smaller(arguments.dv - first_value, kValues)),
        shared_queries(reinterpret_cast<uint32_t*>(stages + kTileStages * kStage)) {
    warp_begin = warp_end = 0;
    if (rows.first < item.rows) {
      const int last = smaller(rows.first + 16, item.rows) - 1;
      warp_begin = VisibleKeys(in, rows.group, item.row_begin + rows.first).begin;
      warp_end = VisibleKeys(in, rows.group, item.row_begin + last).end;
    }
  }

  HEED_DEVICE void load_queries() {
    rows.template load_queries<kKeys>([&](int word, uint32_t bits) {
      if constexpr (kKeepsQueries)
        queries[word] = bits;
      else
        shared_queries[word * threads + thread] = bits;
    });
  }

  /// What heads of fewer columns leave.
  HEED_DEVICE void clear_columns() {
    if (in.d == kKeys && values_here == kValues) return;
    uint32_t* const words = reinterpret_cast<uint32_t*>(stages);
    for (int i = thread; i < kTileStages * kStage / 2; i += threads) words[i] = 0;
    synchronize();
  }

  /// Begins to copy a tile; rows beyond the last key are zeros, since zero weights times what was
  /// there might not be zero.
  HEED_DEVICE void copy_tile(int tile) {
    constexpr int kChunks = (kKeys > kValues ? kKeys : kValues) / 8;
    Bf16* const keys = stages + tile % kTileStages * kStage;
    Bf16* const values = keys + kTileKeys * kKeyStride;
    const Bf16* const k = static_cast<const Bf16*>(in.k);
    const Bf16* const v = static_cast<const Bf16*>(in.v) + first_value;
    for (int i = thread; i < kTileKeys * kChunks; i += threads) {
      const int key = i / kChunks, column = i % kChunks * 8;
      const bool exists = tile * kTileKeys + key < rows.group.keys;
      const int64_t row = exists ? rows.group.key_row(in, tile * kTileKeys + key) : 0;
      const int64_t head = row * in.n_kv_heads + rows.group.head_group;
      if (column < in.d)
        copy_async_16_if(exists, keys + key * kKeyStride + column, k + head * in.d + column);
      if (column < values_here)
        copy_async_16_if(exists, values + key * kValueStride + column, v + head * in.dv + column);
    }
  }

  HEED_DEVICE void multiply_keys(const Bf16* keys, float (&products)[8][4]) {
    HEED_UNROLL
    for (int n = 0; n < 8; ++n) {
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) products[n][i] = 0.0f;
    }
    const Bf16* const from =
        keys + (rows.lane / 16 * 8 + rows.lane % 8) * kKeyStride + rows.lane / 8 % 2 * 8;
    HEED_UNROLL
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t left_rows[4];
      HEED_UNROLL
      for (int i = 0; i < 4; ++i)
        left_rows[i] = kKeepsQueries ? queries[kKeepsQueries ? 4 * step + i : 0]
                                     : shared_queries[(4 * step + i) * threads + thread];
      HEED_UNROLL
      for (int pair = 0; pair < 4; ++pair) {
        uint32_t matrices[4];
        load_matrices_x4(matrices, from + pair * 16 * kKeyStride + step * 16);
        const uint32_t left[2] = {matrices[0], matrices[1]}, right[2] = {matrices[2], matrices[3]};
        mma_m16n8k16_bf16(products[2 * pair], left_rows, left);
        mma_m16n8k16_bf16(products[2 * pair + 1], left_rows, right);
      }
    }
  }

  /// Makes weights of products.
  HEED_DEVICE void weigh(int key, float (&products)[8][4], RowSoftmax (&of_tile)[2]) {
    rows.score(key, products);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const float largest = rows.largest_of(r, products);
      float of_chunks[kTileKeys / 16];
      rows.weigh(key, r, largest, products, of_chunks);
      of_tile[r] = {largest, rows.sum_of_row(rows.sum_of_lane(of_chunks))};
    }
  }

  /// Calls put(n, product) for the 32 columns from group n of 8 on of the weights' product with the
  /// values.
  template <typename Put>
  HEED_DEVICE void multiply_values(const Bf16* values, const float (&weights)[8][4],
                                   const Put& put) {
    uint32_t rounded[kTileKeys / 16][4];
    HEED_UNROLL
    for (int step = 0; step < kTileKeys / 16; ++step)
      rows.round_weights(weights[2 * step], weights[2 * step + 1], rounded[step]);
    const Bf16* const from = values + rows.lane % 16 * kValueStride + rows.lane / 16 * 8;
    HEED_UNROLL
    for (int n = 0; n < kSums; n += 4) {
      float product[4][4];
      HEED_UNROLL
      for (int i = 0; i < 16; ++i) product[i / 4][i % 4] = 0.0f;
      HEED_UNROLL
      for (int step = 0; step < kTileKeys / 16; ++step) {
        HEED_UNROLL
        for (int pair = 0; pair < 2; ++pair) {
          uint32_t matrices[4];
          load_matrices_x4_transposed(matrices,
                                      from + step * 16 * kValueStride + n * 8 + pair * 16);
          const uint32_t left[2] = {matrices[0], matrices[1]};
          const uint32_t right[2] = {matrices[2], matrices[3]};
          mma_m16n8k16_bf16(product[2 * pair], rounded[step], left);
          mma_m16n8k16_bf16(product[2 * pair + 1], rounded[step], right);
        }
      }
      put(n, product);
    }
  }

  HEED_DEVICE int column_of(int n) const { return 8 * n + rows.lane % 4 * 2; }

  /// Products of 32 columns: added to the earlier tiles', or to be added by attention_merge.
  HEED_DEVICE void put_products(int tile, int first, const MergeFactors (&factors)[2],
                                const float (&product)[4][4]) {
    if (item.partial < 0) {
      HEED_UNROLL
      for (int i = 0; i < 16; ++i) {
        float& sum = sums[first + i / 4][i % 4];
        sum = factors[i % 4 / 2](sum, product[i / 4][i % 4]);
      }
      return;
    }
    HEED_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int column = column_of(first + i / 2), r = i % 2;
      if (rows.has_row(r) && column < values_here)
        *reinterpret_cast<TwoFloats*>(rows.partial(tile, r) + first_value + column) = {
            product[i / 2][2 * r], product[i / 2][2 * r + 1]};
    }
  }

  HEED_DEVICE void add_tile(int tile) {
    const int key = tile * kTileKeys;
    const bool sees = key < warp_end && warp_begin < key + kTileKeys;
    if (!sees && (item.partial < 0 || rows.first >= item.rows)) return;
    const Bf16* const keys = stages + tile % kTileStages * kStage;
    float weights[8][4];
    RowSoftmax of_tile[2];
    multiply_keys(keys, weights);
    weigh(key, weights, of_tile);
    if (item.partial >= 0) {
      HEED_UNROLL
      for (int r = 0; r < 2; ++r)
        if (rows.has_row(r) && rows.lane % 4 == 0)
          put_softmax(in, rows.partial(tile, r), of_tile[r]);
    }
    const MergeFactors factors[2] = {merge(softmax[0], of_tile[0]), merge(softmax[1], of_tile[1])};
    multiply_values(keys + kTileKeys * kKeyStride, weights,
                    [&](int first, const float(&product)[4][4]) {
                      put_products(tile, first, factors, product);
                    });
  }

  HEED_DEVICE void run() {
    const TileRange tiles(in, rows.group, item);
    HEED_UNROLL
    for (int n = 0; n < kSums; ++n) {
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
    }
    if (tiles.begin < tiles.end) {
      clear_columns();
      copy_tile(tiles.begin);
    }
    commit_copies();
    load_queries();
    for (int tile = tiles.begin; tile < tiles.end; ++tile) {
      wait_for_copies<0>();
      synchronize();  // the tile is there, and all have taken the one before it
      if (tile + 1 < tiles.end) copy_tile(tile + 1);
      commit_copies();
      add_tile(tile);
    }
    if (item.partial < 0)
      rows.put_results(
          softmax, sums, first_value, values_here, [&](int n) { return column_of(n); }, true);
  }
};

template <int kKeys, int kValues>
HEED_DEVICE void attend_in_tiles(const AttentionArguments& in) {
  const int block = static_cast<int>(block_x());
  TiledBlock<kKeys, kValues>(in, in.items[block / in.n_kv_heads], block % in.n_kv_heads).run();
}

}  // namespace

HEED_GPU_KERNEL(attention_tiles_64_64, AttentionArguments, in) { attend_in_tiles<64, 64>(in); }
HEED_GPU_KERNEL(attention_tiles_96_96, AttentionArguments, in) { attend_in_tiles<96, 96>(in); }
HEED_GPU_KERNEL(attention_tiles_128_128, AttentionArguments, in) { attend_in_tiles<128, 128>(in); }
HEED_GPU_KERNEL(attention_tiles_192_128, AttentionArguments, in) { attend_in_tiles<192, 128>(in); }
HEED_GPU_KERNEL(attention_tiles_256_128, AttentionArguments, in) { attend_in_tiles<256, 128>(in); }

}  // namespace heed::kernels::gpu
