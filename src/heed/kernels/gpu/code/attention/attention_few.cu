#include "heed/kernels/gpu/code/attention/attention_fragment.h"

// Attention of bf16 on tensor cores for few rows, which waits for memory: the four warps of a block
// have the same 16 rows and share each tile of 64 keys. A warp has 16 of the keys, and all rows'
// weights with them, then 16 or 32 of the values' columns. Results have the bits of
// attention_tiles.cu. Keys and values arrive in turns, two such halves of a tile ahead.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kFewThreads = 128, kFewWarps = 4;

template <int kKeys, int kValues>
struct FewBlock {
  static constexpr int kWidest = kKeys > kValues ? kKeys : kValues;
  // Rows of 16 bytes more, so that ldmatrix meets no bank twice.
  static constexpr int kStride = kWidest + 8, kHalf = kTileKeys * kStride;
  static constexpr int kPairs = kValues / 16, kOwnPairs = (kPairs + kFewWarps - 1) / kFewWarps;
  static constexpr int kThreadsOfRow = kWidest / 8;  // a chunk of 16 bytes each
  static constexpr int kRowsAtOnce = kFewThreads / kThreadsOfRow;
  static constexpr int kCopies = (kTileKeys + kRowsAtOnce - 1) / kRowsAtOnce;

  /// What warps tell each other about a tile.
  struct Exchanged {
    uint32_t weights[kFewWarps][32][4];  // as the left operand of mma
    float largest[kFewWarps][16];
    float sums[kFewWarps][16][4];
  };
  static_assert(sizeof(Exchanged) == kFewExchangedBytes);

  const AttentionArguments& in;
  const AttentionItem& item;
  Bf16* const halves;
  Exchanged& exchanged;
  const int thread, warp, lane;
  const AttentionFragment rows;
  const int first_value, values_here;  // columns of v that the block has

  uint32_t queries[kKeys / 4];
  float sums[2 * kOwnPairs][4];
  RowSoftmax softmax[2];
  int copied_rows[kCopies];  // of k and v: the thread's keys of a tile

  HEED_DEVICE FewBlock(const AttentionArguments& arguments, const AttentionItem& of, int g)
      : in(arguments),
        item(of),
        halves(shared_memory<Bf16>()),
        exchanged(*reinterpret_cast<Exchanged*>(halves + kFewHalves * kHalf)),
        thread(static_cast<int>(thread_index())),
        warp(thread / 32),
        lane(thread % 32),
        rows(arguments, of, g, 0),
        first_value(static_cast<int>(block_y()) * kValues),
        values_here(smaller(arguments.dv - first_value, kValues)) {}

  HEED_DEVICE int copied_key(int i) const { return thread / kThreadsOfRow + i * kRowsAtOnce; }

  /// Those beyond the last are the last.
  HEED_DEVICE void find_rows(int tile) {
    const int begin = rows.group.kv_begin, last = rows.group.keys - 1;
    HEED_UNROLL
    for (int i = 0; i < kCopies; ++i)
      copied_rows[i] = begin + smaller(tile * kTileKeys + copied_key(i), last);
    if (!in.kv_rows) return;
    HEED_UNROLL
    for (int i = 0; i < kCopies; ++i) copied_rows[i] = in.kv_rows[copied_rows[i]];
  }

  /// Begins to copy keys or values of the tile of copied_rows. Rows beyond the last key and columns
  /// that heads do not have are zeros, since zeros times what was there might not be zero.
  HEED_DEVICE void copy_half(int tile, Bf16* half, const void* of, int first_column, int columns,
                             int width) {
    if (thread >= kRowsAtOnce * kThreadsOfRow) return;
    const int column = thread % kThreadsOfRow * 8;
    const int keys = column < columns ? rows.group.keys - tile * kTileKeys : 0;
    const Bf16* const from =
        static_cast<const Bf16*>(of) + rows.group.head_group * width + first_column + column;
    const int64_t row_width = static_cast<int64_t>(in.n_kv_heads) * width;
    Bf16* const to = half + copied_key(0) * kStride + column;
    HEED_UNROLL
    for (int i = 0; i < kCopies; ++i)
      if (copied_key(i) < kTileKeys)
        copy_async_16_if(copied_key(i) < keys, to + i * kRowsAtOnce * kStride,
                         from + copied_rows[i] * row_width);
  }
  HEED_DEVICE Bf16* half(int number) const { return halves + number % kFewHalves * kHalf; }
  HEED_DEVICE void copy_keys(int tile, int number) {
    copy_half(tile, half(number), in.k, 0, in.d, in.d);
  }
  HEED_DEVICE void copy_values(int tile, int number) {
    copy_half(tile, half(number), in.v, first_value, values_here, in.dv);
  }

  /// Products with the warp's 16 keys.
  HEED_DEVICE void multiply_keys(const Bf16* keys, float (&products)[2][4]) {
    HEED_UNROLL
    for (int i = 0; i < 4; ++i) products[0][i] = products[1][i] = 0.0f;
    const Bf16* const from =
        keys + (warp * 16 + lane / 16 * 8 + lane % 8) * kStride + lane / 8 % 2 * 8;
    HEED_UNROLL
    for (int step = 0; step < kKeys / 16; ++step) {
      const uint32_t words[4] = {queries[4 * step], queries[4 * step + 1], queries[4 * step + 2],
                                 queries[4 * step + 3]};
      uint32_t matrices[4];
      load_matrices_x4(matrices, from + step * 16);
      const uint32_t left[2] = {matrices[0], matrices[1]}, right[2] = {matrices[2], matrices[3]};
      mma_m16n8k16_bf16(products[0], words, left);
      mma_m16n8k16_bf16(products[1], words, right);
    }
  }

  /// Makes weights of the warp's products and gives them to the others. Returns the largest scores.
  HEED_DEVICE void weigh(int tile, float (&products)[2][4], float (&largest)[2]) {
    const int key = tile * kTileKeys + warp * 16;
    rows.score(key, products);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      largest[r] = rows.largest_of(r, products);
      if (lane % 4 == 0) exchanged.largest[warp][lane / 4 + 8 * r] = largest[r];
    }
    synchronize();
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      HEED_UNROLL
      for (int w = 0; w < kFewWarps; ++w) {
        const float other = exchanged.largest[w][lane / 4 + 8 * r];
        largest[r] = other > largest[r] ? other : largest[r];
      }
      float sum[1];
      rows.weigh(key, r, largest[r], products, sum);
      exchanged.sums[warp][lane / 4 + 8 * r][lane % 4] = sum[0];
    }
    uint32_t rounded[4];
    rows.round_weights(products[0], products[1], rounded);
    HEED_UNROLL
    for (int i = 0; i < 4; ++i) exchanged.weights[warp][lane][i] = rounded[i];
  }

  HEED_DEVICE RowSoftmax softmax_of_tile(int r, float largest) const {
    float of_warps[kFewWarps];
    HEED_UNROLL
    for (int w = 0; w < kFewWarps; ++w)
      of_warps[w] = exchanged.sums[w][lane / 4 + 8 * r][lane % 4];
    return {largest, rows.sum_of_row(rows.sum_of_lane(of_warps))};
  }

  /// Whether the warp has the pair of 8 columns each.
  HEED_DEVICE bool has_pair(int pair) const { return warp + pair * kFewWarps < kPairs; }
  HEED_DEVICE int column_of(int n) const {
    return (warp + n / 2 * kFewWarps) * 16 + n % 2 * 8 + lane % 4 * 2;
  }

  HEED_DEVICE void multiply_values(const Bf16* values, float (&products)[2 * kOwnPairs][4]) {
    HEED_UNROLL
    for (int n = 0; n < 2 * kOwnPairs; ++n) {
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) products[n][i] = 0.0f;
    }
    const Bf16* const from = values + lane % 16 * kStride + lane / 16 * 8 + warp * 16;
    HEED_UNROLL
    for (int step = 0; step < kTileKeys / 16; ++step) {
      uint32_t weights[4];
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) weights[i] = exchanged.weights[step][lane][i];
      HEED_UNROLL
      for (int pair = 0; pair < kOwnPairs; ++pair) {
        if (!has_pair(pair)) continue;
        uint32_t matrices[4];
        load_matrices_x4_transposed(matrices,
                                    from + step * 16 * kStride + pair * kFewWarps * 16);
        const uint32_t left[2] = {matrices[0], matrices[1]}, right[2] = {matrices[2], matrices[3]};
        mma_m16n8k16_bf16(products[2 * pair], weights, left);
        mma_m16n8k16_bf16(products[2 * pair + 1], weights, right);
      }
    }
  }

  HEED_DEVICE void put_partial(int tile, const float (&products)[2 * kOwnPairs][4],
                               const RowSoftmax (&of_tile)[2]) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (!rows.has_row(r)) continue;
      float* const to = rows.partial(tile, r);
      HEED_UNROLL
      for (int n = 0; n < 2 * kOwnPairs; ++n)
        if (column_of(n) < values_here)
          *reinterpret_cast<TwoFloats*>(to + first_value + column_of(n)) = {products[n][2 * r],
                                                                            products[n][2 * r + 1]};
      if (warp == 0 && lane % 4 == 0) put_softmax(in, to, of_tile[r]);
    }
  }

  HEED_DEVICE void add_values(int tile, const Bf16* values, const float (&largest)[2]) {
    const RowSoftmax of_tile[2] = {softmax_of_tile(0, largest[0]), softmax_of_tile(1, largest[1])};
    float products[2 * kOwnPairs][4];
    multiply_values(values, products);
    if (item.partial >= 0) {
      put_partial(tile, products, of_tile);
      return;
    }
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const MergeFactors factors = merge(softmax[r], of_tile[r]);
      HEED_UNROLL
      for (int i = 0; i < 4 * kOwnPairs; ++i) {
        float& sum = sums[i / 2][2 * r + i % 2];
        sum = factors(sum, products[i / 2][2 * r + i % 2]);
      }
    }
  }

  HEED_DEVICE void run() {
    HEED_UNROLL
    for (int n = 0; n < 2 * kOwnPairs; ++n) {
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
    }
    const TileRange tiles(in, rows.group, item);
    if (tiles.begin < tiles.end) add_tiles(tiles);
    if (item.partial < 0)
      rows.put_results(
          softmax, sums, first_value, values_here, [&](int n) { return column_of(n); }, warp == 0);
  }

  /// Each barrier tells that a half has come, and that all have taken the one before it, whose
  /// place the next one but one gets.
  HEED_DEVICE void add_tiles(const TileRange& tiles) {
    find_rows(tiles.begin);
    copy_keys(tiles.begin, 0);
    commit_copies();
    copy_values(tiles.begin, 1);
    commit_copies();
    find_rows(tiles.begin + 1);
    rows.template load_queries<kKeys>([&](int word, uint32_t bits) { queries[word] = bits; });
    for (int tile = tiles.begin; tile < tiles.end; ++tile) {
      const int number = 2 * (tile - tiles.begin);
      const bool has_next = tile + 1 < tiles.end;
      wait_for_copies<1>();
      synchronize();
      if (has_next) copy_keys(tile + 1, number + 2);
      commit_copies();
      float products[2][4], largest[2];
      multiply_keys(half(number), products);
      weigh(tile, products, largest);
      wait_for_copies<1>();
      synchronize();
      if (has_next) {
        copy_values(tile + 1, number + 3);
        find_rows(tile + 2);
      }
      commit_copies();
      add_values(tile, half(number + 1), largest);
    }
  }
};

template <int kKeys, int kValues>
HEED_DEVICE void attend_few(const AttentionArguments& in) {
  const int block = static_cast<int>(block_x());
  FewBlock<kKeys, kValues>(in, in.items[block / in.n_kv_heads], block % in.n_kv_heads).run();
}

}  // namespace

HEED_GPU_KERNEL_OF(kFewThreads, 4, attention_few_64_64, AttentionArguments, in) {
  attend_few<64, 64>(in);
}
HEED_GPU_KERNEL_OF(kFewThreads, 4, attention_few_96_96, AttentionArguments, in) {
  attend_few<96, 96>(in);
}
HEED_GPU_KERNEL_OF(kFewThreads, 4, attention_few_128_128, AttentionArguments, in) {
  attend_few<128, 128>(in);
}
HEED_GPU_KERNEL_OF(kFewThreads, 2, attention_few_192_128, AttentionArguments, in) {
  attend_few<192, 128>(in);
}
HEED_GPU_KERNEL_OF(kFewThreads, 2, attention_few_256_128, AttentionArguments, in) {
  attend_few<256, 128>(in);
}

}  // namespace heed::kernels::gpu
