#include "heed/kernels/gpu/code/attention/attention_rows.h"
#include "heed/kernels/gpu/code/attention/q8_0.h"
#include "heed/kernels/gpu/code/block_sum.h"

// Attention in f32, of any widths and types, by four warps. A tile of keys, and then of values, is
// in shared memory in f32, 64 columns at a time. For scores a lane has two keys, for results two of
// every 64 columns.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr int kThreads = 128, kColumns = 64, kStride = kColumns + 4;

struct alignas(16) Four {
  float x, y, z, w;
};
struct alignas(16) EightBf16 {
  Bf16 values[8];
};

struct PlainShared {
  float *tile, *queries, *weights;
  int* rows;

  HEED_DEVICE PlainShared(int rows_of_block, int query_stride) {
    tile = shared_memory<float>();  // [kTileKeys, kStride]
    weights = tile + kTileKeys * kStride;  // [rows, kTileKeys]
    queries = weights + rows_of_block * kTileKeys;  // [rows, query_stride]
    rows = reinterpret_cast<int*>(queries + rows_of_block * query_stride);  // [kTileKeys]
  }
};

/// Columns [first, first + 64) of a tile's rows of k or v, `width` columns for each head; zeros
/// beyond it.
struct Columns {
  const void* from;
  KeyType type;
  int64_t row_width;  // G width
  int head_offset, width, first;
};

HEED_DEVICE void load_f32(const Columns& of, const int* rows, int count, float* tile) {
  const float* const from = static_cast<const float*>(of.from) + of.head_offset + of.first;
  const int left = of.width - of.first, thread = static_cast<int>(thread_index());
  if (of.width % 4 == 0) {
    for (int i = thread; i < kTileKeys * kColumns / 4; i += kThreads) {
      const int key = i / (kColumns / 4), column = i % (kColumns / 4) * 4;
      Four values{};
      if (key < count && column < left)
        values = *reinterpret_cast<const Four*>(from + rows[key] * of.row_width + column);
      *reinterpret_cast<Four*>(tile + key * kStride + column) = values;
    }
    return;
  }
  for (int i = thread; i < kTileKeys * kColumns; i += kThreads) {
    const int key = i / kColumns, column = i % kColumns;
    const bool exists = key < count && column < left;
    tile[key * kStride + column] = exists ? from[rows[key] * of.row_width + column] : 0.0f;
  }
}

HEED_DEVICE void load_bf16(const Columns& of, const int* rows, int count, float* tile) {
  const Bf16* const from = static_cast<const Bf16*>(of.from) + of.head_offset + of.first;
  const int left = of.width - of.first, thread = static_cast<int>(thread_index());
  if (of.width % 8 == 0) {
    for (int i = thread; i < kTileKeys * kColumns / 8; i += kThreads) {
      const int key = i / (kColumns / 8), column = i % (kColumns / 8) * 8;
      EightBf16 values{};
      if (key < count && column < left)
        values = *reinterpret_cast<const EightBf16*>(from + rows[key] * of.row_width + column);
      for (int j = 0; j < 8; ++j) tile[key * kStride + column + j] = wide(values.values[j]);
    }
    return;
  }
  for (int i = thread; i < kTileKeys * kColumns; i += kThreads) {
    const int key = i / kColumns, column = i % kColumns;
    const bool exists = key < count && column < left;
    tile[key * kStride + column] = exists ? wide(from[rows[key] * of.row_width + column]) : 0.0f;
  }
}

HEED_DEVICE void load_q8_0(const Columns& of, const int* rows, int count, float* tile) {
  const BlockQ8_0* const from = static_cast<const BlockQ8_0*>(of.from);
  for (int i = static_cast<int>(thread_index()); i < kTileKeys * 2; i += kThreads) {
    const int key = i / 2, column = i % 2 * 32;
    float* const to = tile + key * kStride + column;
    if (key < count && of.first + column < of.width) {
      const int64_t at = rows[key] * of.row_width + of.head_offset + of.first + column;
      widen(from[at / 32], to);
    } else {
      for (int j = 0; j < 32; ++j) to[j] = 0.0f;
    }
  }
}

HEED_DEVICE void load_columns(const Columns& of, const int* rows, int count, float* tile) {
  if (of.type == KeyType::f32)
    load_f32(of, rows, count, tile);
  else if (of.type == KeyType::bf16)
    load_bf16(of, rows, count, tile);
  else
    load_q8_0(of, rows, count, tile);
}

/// Rows of the warp's quarter of a block.
template <int kRows, int kChunks>
struct PlainRows {
  static constexpr int kOwn = kRows / 4, kValues = 2 * kChunks;

  float values[kOwn][kValues];
  RowSoftmax softmax[kOwn];

  HEED_DEVICE void clear() {
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      softmax[r] = RowSoftmax();
      HEED_UNROLL
      for (int c = 0; c < kValues; ++c) values[r][c] = 0.0f;
    }
  }
  HEED_DEVICE void add(const PlainRows& tile) {
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      const MergeFactors factors = merge(softmax[r], tile.softmax[r]);
      HEED_UNROLL
      for (int c = 0; c < kValues; ++c) values[r][c] = factors(values[r][c], tile.values[r][c]);
    }
  }
};

template <int kRows, int kChunks>
struct PlainBlock {
  static constexpr int kOwn = kRows / 4;
  using Rows = PlainRows<kRows, kChunks>;

  const AttentionArguments& in;
  const AttentionItem& item;
  AttentionGroup group;
  int query_stride;
  PlainShared shared;
  int lane, first, own;  // the warp's rows are first to first + own - 1 of the item

  HEED_DEVICE PlainBlock(const AttentionArguments& arguments, const AttentionItem& of, int g)
      : in(arguments),
        item(of),
        group(arguments, of.sequence, g),
        query_stride((arguments.d + kColumns - 1) / kColumns * kColumns),
        shared(kRows, query_stride),
        lane(static_cast<int>(thread_index() % 32)),
        first(static_cast<int>(thread_index() / 32) * kOwn),
        own(larger(smaller(of.rows - first, kOwn), 0)) {}

  HEED_DEVICE int row(int r) const { return item.row_begin + first + r; }

  HEED_DEVICE void load_queries() {
    for (int i = static_cast<int>(thread_index()); i < kRows * query_stride; i += kThreads) {
      const int r = i / query_stride, column = i % query_stride;
      float value = 0.0f;
      if (r < item.rows && column < in.d)
        value = query_at(in, group.index(in, item.row_begin + r) * in.d + column);
      shared.queries[i] = value;
    }
  }

  /// products[r][i] of the warp's rows and key lane + 32 i of the tile.
  HEED_DEVICE void multiply_keys(int count, float (&products)[kOwn][2]) {
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) products[r][0] = products[r][1] = 0.0f;
    for (int column = 0; column < in.d; column += kColumns) {
      load_columns({in.k, in.key_type, int64_t{in.n_kv_heads} * in.d, group.head_group * in.d, in.d,
                    column},
                   shared.rows, count, shared.tile);
      synchronize();
      if (own > 0) {
        const Four* const keys = reinterpret_cast<const Four*>(shared.tile + lane * kStride);
        const Four* const far = reinterpret_cast<const Four*>(shared.tile + (lane + 32) * kStride);
        for (int c = 0; c < kColumns / 4; ++c) {
          const Four k0 = keys[c], k1 = far[c];
          HEED_UNROLL
          for (int r = 0; r < kOwn; ++r) {
            const Four q = reinterpret_cast<const Four*>(shared.queries +
                                                         (first + r) * query_stride + column)[c];
            products[r][0] = chain(q, k0, products[r][0]);
            products[r][1] = chain(q, k1, products[r][1]);
          }
        }
      }
      synchronize();
    }
  }
  static HEED_DEVICE float chain(const Four& a, const Four& b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
  }

  /// Puts the weights of the warp's rows into shared memory.
  HEED_DEVICE void weigh(int key, const float (&products)[kOwn][2], Rows& sums) {
    const Scores scores(in);
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      if (r >= own) break;
      const VisibleKeys visible(in, group, row(r));
      const int head = group.head(row(r)), position = group.position(row(r));
      float score[2], largest = -INFINITY;
      HEED_UNROLL
      for (int i = 0; i < 2; ++i) {
        const int j = key + lane + 32 * i;
        score[i] = visible.has(j) ? scores(products[r][i], head, position, j) : -INFINITY;
        largest = score[i] > largest ? score[i] : largest;
      }
      largest = reduce_warp<Max>(largest);
      float weight[2] = {exp2_below(score[0], largest), exp2_below(score[1], largest)};
      const float sum = reduce_warp<Sum>(weight[0] + weight[1]);
      sums.softmax[r] = {largest, sum};
      if (in.drop_threshold != 0) {
        const RowDropout dropout(in, group.index(in, row(r)));
        HEED_UNROLL
        for (int i = 0; i < 2; ++i) weight[i] = dropout(weight[i], key + lane + 32 * i);
      }
      HEED_UNROLL
      for (int i = 0; i < 2; ++i)
        shared.weights[(first + r) * kTileKeys + lane + 32 * i] = weight[i];
    }
  }

  HEED_DEVICE void add_values(int count, Rows& sums) {
    HEED_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (chunk * kColumns >= in.dv) break;
      load_columns({in.v, in.key_type, int64_t{in.n_kv_heads} * in.dv, group.head_group * in.dv,
                    in.dv, chunk * kColumns},
                   shared.rows, count, shared.tile);
      synchronize();
      if (own > 0)
        for (int key = 0; key < kTileKeys; key += 4) multiply_values(key, chunk, sums);
      synchronize();
    }
  }

  /// Of rows that the block does not have, results are dropped.
  HEED_DEVICE void multiply_values(int key, int chunk, Rows& sums) {
    float near[4], far[4];
    HEED_UNROLL
    for (int j = 0; j < 4; ++j) {
      near[j] = shared.tile[(key + j) * kStride + lane];
      far[j] = shared.tile[(key + j) * kStride + lane + 32];
    }
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      const Four weights =
          *reinterpret_cast<const Four*>(shared.weights + (first + r) * kTileKeys + key);
      sums.values[r][2 * chunk] = chain(weights, near, sums.values[r][2 * chunk]);
      sums.values[r][2 * chunk + 1] = chain(weights, far, sums.values[r][2 * chunk + 1]);
    }
  }
  static HEED_DEVICE float chain(const Four& a, const float (&b)[4], float sum) {
    return fmaf(a.w, b[3], fmaf(a.z, b[2], fmaf(a.y, b[1], fmaf(a.x, b[0], sum))));
  }

  HEED_DEVICE void add_tile(int tile, Rows& sums) {
    const int key = tile * kTileKeys, count = smaller(group.keys - key, kTileKeys);
    const int thread = static_cast<int>(thread_index());
    if (thread < count) shared.rows[thread] = static_cast<int>(group.key_row(in, key + thread));
    synchronize();
    float products[kOwn][2];
    multiply_keys(count, products);
    weigh(key, products, sums);
    add_values(count, sums);
  }

  HEED_DEVICE void put_partial(int tile, const Rows& sums) {
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      if (r >= own) break;
      float* const to =
          partial_row(in, group.head_group,
                      item.partial + (tile - item.tile_begin) * item.rows + first + r);
      HEED_UNROLL
      for (int c = 0; c < Rows::kValues; ++c)
        if (lane + 32 * c < in.dv) to[lane + 32 * c] = sums.values[r][c];
      if (lane == 0) put_softmax(in, to, sums.softmax[r]);
    }
  }

  HEED_DEVICE void put_results(const Rows& sums) {
    HEED_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      if (r >= own) break;
      const RowResult result(in, sums.softmax[r], group.head(row(r)));
      const int64_t index = group.index(in, row(r));
      HEED_UNROLL
      for (int c = 0; c < Rows::kValues; ++c)
        if (lane + 32 * c < in.dv)
          put_result(in, index * in.dv + lane + 32 * c, result(sums.values[r][c]));
      if (lane == 0) in.logsumexp[index] = result.logsumexp;
    }
  }

  HEED_DEVICE void run() {
    const TileRange seen(in, group, item);
    Rows all, sums;
    all.clear();
    load_queries();
    for (int tile = seen.begin; tile < seen.end; ++tile) {
      sums.clear();
      add_tile(tile, sums);
      if (item.partial >= 0)
        put_partial(tile, sums);
      else
        all.add(sums);
    }
    if (item.partial < 0) put_results(all);
  }
};

template <int kRows, int kChunks>
HEED_DEVICE void attend_plainly(const AttentionArguments& in) {
  const int block = static_cast<int>(block_x());
  PlainBlock<kRows, kChunks>(in, in.items[block / in.n_kv_heads], block % in.n_kv_heads).run();
}

}  // namespace

HEED_GPU_KERNEL(attention_plain_4_1, AttentionArguments, in) { attend_plainly<4, 1>(in); }
HEED_GPU_KERNEL(attention_plain_4_2, AttentionArguments, in) { attend_plainly<4, 2>(in); }
HEED_GPU_KERNEL(attention_plain_4_4, AttentionArguments, in) { attend_plainly<4, 4>(in); }
HEED_GPU_KERNEL(attention_plain_4_9, AttentionArguments, in) { attend_plainly<4, 9>(in); }
HEED_GPU_KERNEL(attention_plain_16_1, AttentionArguments, in) { attend_plainly<16, 1>(in); }
HEED_GPU_KERNEL(attention_plain_16_2, AttentionArguments, in) { attend_plainly<16, 2>(in); }
HEED_GPU_KERNEL(attention_plain_16_4, AttentionArguments, in) { attend_plainly<16, 4>(in); }
HEED_GPU_KERNEL(attention_plain_8_9, AttentionArguments, in) { attend_plainly<8, 9>(in); }

}  // namespace heed::kernels::gpu
