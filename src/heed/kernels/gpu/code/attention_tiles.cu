#include "heed/kernels/gpu/code/attention_rows.h"

// Attention of bf16 on tensor cores. A warp has 16 rows, and takes tiles of 64 keys and values from
// shared memory, where the next one arrives meanwhile (Dao 2023, FlashAttention-2). Weights are
// rounded to bf16.
//
// Registers of mma.m16n8k16: lane l has rows l / 4 and l / 4 + 8, and of every 8 columns of a result
// 2 (l % 4) and the next.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kTileStages = 2, kTilesOfSplit = kSplitKeys / kTileKeys;

/// Rows of kKeys columns of k, and of kValues columns of v from first_value on; heads may have fewer.
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
  const AttentionGroup group;
  const Scores scores;
  Bf16* const stages;
  const int thread, threads, lane;
  const int first;  // row of the item: the warp's first
  const int first_value, values_here;  // columns of v that the block has
  uint32_t* const shared_queries;  // [kQueryWords, threads], or empty
  float* const parked;             // [kSums * 4, threads]

  int begin[2], end[2];  // keys that the lane's rows see
  int warp_begin, warp_end;
  uint32_t queries[kKeptWords];
  float sums[kSums][4];
  RowSoftmax softmax[2], all[2];

  HEED_DEVICE TiledBlock(const AttentionArguments& arguments, const AttentionItem& of, int g)
      : in(arguments),
        item(of),
        group(arguments, of.sequence, g),
        scores(arguments),
        stages(shared_memory<Bf16>()),
        thread(static_cast<int>(thread_index())),
        threads(static_cast<int>(block_threads())),
        lane(thread % 32),
        first(thread / 32 * 16),
        first_value(static_cast<int>(block_y()) * kValues),
        values_here(smaller(arguments.dv - first_value, kValues)),
        shared_queries(reinterpret_cast<uint32_t*>(stages + kTileStages * kStage)),
        parked(reinterpret_cast<float*>(shared_queries +
                                        (kKeepsQueries ? 0 : kQueryWords * threads))) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      begin[r] = end[r] = 0;
      if (!has_row(r)) continue;
      const VisibleKeys visible(in, group, row(r));
      begin[r] = visible.begin;
      end[r] = visible.end;
    }
    warp_begin = warp_end = 0;
    if (first < item.rows) {
      warp_begin = VisibleKeys(in, group, item.row_begin + first).begin;
      warp_end = VisibleKeys(in, group, item.row_begin + smaller(first + 16, item.rows) - 1).end;
    }
  }

  HEED_DEVICE int row_of_item(int r) const { return first + lane / 4 + 8 * r; }
  HEED_DEVICE int row(int r) const { return item.row_begin + row_of_item(r); }
  HEED_DEVICE bool has_row(int r) const { return row_of_item(r) < item.rows; }

  HEED_DEVICE void load_queries() {
    const Bf16* const q = static_cast<const Bf16*>(in.q);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const Bf16* const from = q + (has_row(r) ? group.index(in, row(r)) * in.d : 0);
      HEED_UNROLL
      for (int i = 0; i < kKeys / 8; ++i) {
        const int column = 8 * i + lane % 4 * 2;
        const bool exists = has_row(r) && column < in.d;
        const uint32_t both = exists ? *reinterpret_cast<const uint32_t*>(from + column) : 0;
        const int word = i / 2 * 4 + r + i % 2 * 2;
        if constexpr (kKeepsQueries)
          queries[word] = both;
        else
          shared_queries[word * threads + thread] = both;
      }
    }
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
      const bool exists = tile * kTileKeys + key < group.keys;
      const int64_t row = exists ? group.key_row(in, tile * kTileKeys + key) : 0;
      const int64_t head = row * in.n_kv_heads + group.head_group;
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
    const Bf16* const from = keys + (lane / 16 * 8 + lane % 8) * kKeyStride + lane / 8 % 2 * 8;
    HEED_UNROLL
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t rows[4];
      HEED_UNROLL
      for (int i = 0; i < 4; ++i)
        rows[i] = kKeepsQueries ? queries[kKeepsQueries ? 4 * step + i : 0]
                                : shared_queries[(4 * step + i) * threads + thread];
      HEED_UNROLL
      for (int pair = 0; pair < 4; ++pair) {
        uint32_t matrices[4];
        load_matrices_x4(matrices, from + pair * 16 * kKeyStride + step * 16);
        const uint32_t left[2] = {matrices[0], matrices[1]}, right[2] = {matrices[2], matrices[3]};
        mma_m16n8k16_bf16(products[2 * pair], rows, left);
        mma_m16n8k16_bf16(products[2 * pair + 1], rows, right);
      }
    }
  }

  /// Scores of products, minus infinity where a row does not see the key.
  HEED_DEVICE void score(int key, float (&products)[8][4]) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const bool sees_all = begin[r] <= key && key + kTileKeys <= end[r];
      const int head = scores.adjusts ? group.head(row(r)) : 0;
      const int position = scores.adjusts ? group.position(row(r)) : 0;
      HEED_UNROLL
      for (int i = 0; i < 16; ++i) {
        const int j = key + i / 2 * 8 + lane % 4 * 2 + i % 2;
        float& product = products[i / 2][2 * r + i % 2];
        if (!scores.adjusts)
          product *= scores.scale;
        else if (has_row(r))
          product = scores(product, head, position, j);
        if (!sees_all && !(begin[r] <= j && j < end[r])) product = -INFINITY;
      }
    }
  }

  /// Weights of scores; scales what was added before.
  HEED_DEVICE void weigh(int key, float (&products)[8][4]) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      float largest = softmax[r].largest;
      HEED_UNROLL
      for (int i = 0; i < 16; ++i) {
        const float value = products[i / 2][2 * r + i % 2];
        largest = value > largest ? value : largest;
      }
      HEED_UNROLL
      for (unsigned mask = 1; mask < 4; mask *= 2) {
        const float other = shuffle_xor(largest, mask);
        largest = other > largest ? other : largest;
      }
      const float base = largest == -INFINITY ? 0.0f : largest;
      const float rescale = fast_exp2(softmax[r].largest - base);
      float sum = 0.0f;
      HEED_UNROLL
      for (int i = 0; i < 16; ++i) {
        float& value = products[i / 2][2 * r + i % 2];
        value = fast_exp2(value - base);
        sum += value;
      }
      softmax[r] = {largest, fmaf(softmax[r].sum, rescale, sum)};
      HEED_UNROLL
      for (int n = 0; n < kSums; ++n) {
        sums[n][2 * r] *= rescale;
        sums[n][2 * r + 1] *= rescale;
      }
      if (in.drop_threshold != 0 && has_row(r))
        drop(RowDropout(in, group.index(in, row(r))), key, r, products);
    }
  }

  HEED_DEVICE void drop(const RowDropout& dropout, int key, int r, float (&weights)[8][4]) {
    HEED_UNROLL
    for (int i = 0; i < 16; ++i) {
      float& weight = weights[i / 2][2 * r + i % 2];
      weight = dropout(weight, key + i / 2 * 8 + lane % 4 * 2 + i % 2);
    }
  }

  HEED_DEVICE void add_values(const Bf16* values, const float (&weights)[8][4]) {
    const Bf16* const from = values + lane % 16 * kValueStride + lane / 16 * 8;
    HEED_UNROLL
    for (int step = 0; step < kTileKeys / 16; ++step) {
      const float(&left)[4] = weights[2 * step];
      const float(&right)[4] = weights[2 * step + 1];
      const uint32_t rounded[4] = {bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]),
                                   bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3])};
      HEED_UNROLL
      for (int pair = 0; pair < kSums / 2; ++pair) {
        uint32_t matrices[4];
        load_matrices_x4_transposed(matrices, from + step * 16 * kValueStride + pair * 16);
        const uint32_t near[2] = {matrices[0], matrices[1]}, far[2] = {matrices[2], matrices[3]};
        mma_m16n8k16_bf16(sums[2 * pair], rounded, near);
        mma_m16n8k16_bf16(sums[2 * pair + 1], rounded, far);
      }
    }
  }

  HEED_DEVICE void clear_split() {
    softmax[0] = softmax[1] = RowSoftmax();
    HEED_UNROLL
    for (int n = 0; n < kSums; ++n) {
      HEED_UNROLL
      for (int i = 0; i < 4; ++i) sums[n][i] = 0.0f;
    }
  }

  HEED_DEVICE void add_tile(int tile) {
    const int key = tile * kTileKeys;
    if (key >= warp_end || key + kTileKeys <= warp_begin) return;
    const Bf16* const keys = stages + tile % kTileStages * kStage;
    float products[8][4];
    multiply_keys(keys, products);
    score(key, products);
    weigh(key, products);
    add_values(keys + kTileKeys * kKeyStride, products);
  }

  /// The four lanes of a row have summed different keys.
  HEED_DEVICE void finish_split() {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      HEED_UNROLL
      for (unsigned mask = 1; mask < 4; mask *= 2)
        softmax[r].sum += shuffle_xor(softmax[r].sum, mask);
    }
  }

  HEED_DEVICE void put_partial(int split) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (!has_row(r)) continue;
      float* const to = partial_row(
          in, group.head_group,
          item.partial + (split - item.split_begin) * item.tile_rows + row_of_item(r));
      HEED_UNROLL
      for (int n = 0; n < kSums; ++n) {
        const int column = 8 * n + lane % 4 * 2;
        if (column < values_here)
          *reinterpret_cast<Float2*>(to + first_value + column) = {sums[n][2 * r], sums[n][2 * r + 1]};
      }
      if (lane % 4 == 0) put_softmax(in, to, softmax[r]);
    }
  }

  /// Adds the split to the earlier ones, which wait in shared memory.
  HEED_DEVICE void add_split(bool is_last) {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      const MergeFactors factors = merge(all[r], softmax[r]);
      HEED_UNROLL
      for (int i = 0; i < 2 * kSums; ++i) {
        float& sum = sums[i / 2][2 * r + i % 2];
        float* const earlier = parked + (i * 2 + r) * threads + thread;
        sum = factors(*earlier, sum);
        if (!is_last) *earlier = sum;
      }
    }
  }
  HEED_DEVICE void park_first_split() {
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      all[r] = softmax[r];
      HEED_UNROLL
      for (int i = 0; i < 2 * kSums; ++i)
        parked[(i * 2 + r) * threads + thread] = sums[i / 2][2 * r + i % 2];
    }
  }

  HEED_DEVICE void put_results(const RowSoftmax (&of)[2]) {
    Bf16* const out = static_cast<Bf16*>(in.out);
    HEED_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (!has_row(r)) continue;
      const RowResult result(in, of[r], group.head(row(r)));
      const int64_t index = group.index(in, row(r));
      HEED_UNROLL
      for (int n = 0; n < kSums; ++n) {
        const int column = 8 * n + lane % 4 * 2;
        if (column < values_here)
          *reinterpret_cast<uint32_t*>(out + index * in.dv + first_value + column) =
              bf16_pair(result(sums[n][2 * r]), result(sums[n][2 * r + 1]));
      }
      if (lane % 4 == 0) in.logsumexp[index] = result.logsumexp;
    }
  }

  /// The partial results of splits [from, to), whose keys no row sees.
  HEED_DEVICE void put_empty(int from, int to) {
    clear_split();
    for (int split = from; split < to; ++split) put_partial(split);
  }

  HEED_DEVICE void end_split(const TileRange& tiles, int tile) {
    finish_split();
    const int split = tile / kTilesOfSplit;
    const bool is_first = split == tiles.begin / kTilesOfSplit, is_last = tile + 1 == tiles.end;
    if (item.partial >= 0)
      put_partial(split);
    else if (is_first && is_last)
      put_results(softmax);
    else if (is_first)
      park_first_split();
    else
      add_split(is_last);
    if (item.partial < 0 && is_last && !is_first) put_results(all);
  }

  HEED_DEVICE void run() {
    const TileRange tiles(in, group, item);
    if (tiles.begin >= tiles.end) {
      clear_split();
      if (item.partial >= 0)
        put_empty(item.split_begin, item.split_end);
      else
        put_results(softmax);
      return;
    }
    if (item.partial >= 0) {
      put_empty(item.split_begin, tiles.begin / kTilesOfSplit);
      put_empty((tiles.end - 1) / kTilesOfSplit + 1, item.split_end);
    }
    clear_columns();
    copy_tile(tiles.begin);
    commit_copies();
    load_queries();
    clear_split();
    for (int tile = tiles.begin; tile < tiles.end; ++tile) {
      if (tile + 1 < tiles.end) copy_tile(tile + 1);
      commit_copies();
      wait_for_copies<1>();
      synchronize();
      add_tile(tile);
      if (tile % kTilesOfSplit == kTilesOfSplit - 1 || tile + 1 == tiles.end) {
        end_split(tiles, tile);
        clear_split();
      }
      synchronize();
    }
  }

 private:
  struct alignas(8) Float2 {
    float x, y;
  };
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
