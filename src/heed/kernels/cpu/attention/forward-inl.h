// The forward pass of attention, one tile of query rows at a time. Included once per instruction
// set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heed/base/rounding.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/attention/decode_attention-inl.h"
#include "heed/kernels/cpu/attention/pairs-inl.h"
#include "heed/kernels/cpu/attention/scores-inl.h"
#include "heed/kernels/cpu/attention/softmax-inl.h"
#include "heed/kernels/cpu/attention/work.h"

#ifndef HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
#define HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
namespace heed::kernels::cpu {

/// Queries and results are f32 or bf16.
struct ForwardResults {
  DType dtype;
  std::byte* out;
  float* logsumexp;
};

struct ForwardTensors {
  const std::byte* q;  // of results.dtype
  const std::byte *k, *v;
  DType kv_dtype;
  ForwardResults results;
};

/// Floats of the partial result of a row over one split of the keys: the weighted values, padded,
/// then its softmax.
inline int64_t partial_floats(const AttentionShape& shape) { return round_up(shape.dv + 16, 16); }

inline int64_t kv_splits(const AttentionGroup& group) { return ceil_div(group.keys, kSplitKeys); }

}  // namespace heed::kernels::cpu
#endif

#if defined(HEED_KERNELS_CPU_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_FORWARD_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_FORWARD_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_FORWARD_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE void scale_row(float* row, int64_t width, float factor) {
  const F32 d;
  for (int64_t c = 0; c < width; c += lanes())
    hn::Store(hn::Mul(hn::Load(d, row + c), hn::Set(d, factor)), d, row + c);
}

/// out[0, width) = factor * values; null: zeros.
template <typename T>
HWY_INLINE void write_row(const float* values, int64_t width, float factor, T* out) {
  if (values)
    unpack_row(values, width, factor, out);
  else
    std::fill(out, out + width, T(0.0f));
}

/// Writes the result of a row of a group from its partial result over all keys.
HWY_INLINE void finish_row(const cpu::ForwardResults& results, const cpu::AttentionGroup& group,
                           int64_t row, Partial all) {
  const cpu::AttentionShape& shape = *group.shape;
  OnlineSoftmax softmax = *all.softmax;
  const int64_t index = group.row_index(row), at = index * shape.dv;
  const bool any = group.visible(row) != 0 && softmax.sum != 0.0f;
  const float none =
      shape.sinks ? shape.sinks[group.head(row)] : -std::numeric_limits<float>::infinity();
  const float rescale = any && shape.sinks ? add_sink(none, softmax) : 1.0f;
  const float factor = any ? rescale / (softmax.sum * (1.0f - shape.dropout)) : 0.0f;
  const float* values = any ? all.values : nullptr;
  if (results.dtype == DType::f32)
    write_row(values, shape.dv, factor, reinterpret_cast<float*>(results.out) + at);
  else
    write_row(values, shape.dv, factor, reinterpret_cast<bfloat16*>(results.out) + at);
  results.logsumexp[index] = any ? softmax.largest + std::log(softmax.sum) : none;
}

/// The tile of one task: its query rows, and one block of keys after the other. K: what stores keys
/// and values.
template <typename K>
class ForwardTile {
 public:
  ForwardTile(const cpu::ForwardTensors& tensors, const cpu::AttentionTask& task)
      : tensors_(tensors),
        group_(task.group),
        shape_(*task.group.shape),
        begin_(task.row_begin),
        rows_(task.row_end - task.row_begin),
        tiles_(uses_tiles()),
        decodes_(!tiles_ && rows_ <= kDecodeRows && readable_in_place<K>(shape_.d, shape_.dv)),
        adjusts_scores_(shape_.adjusts_scores()),
        drop_threshold_(shape_.dropout > 0.0f ? drop_threshold(shape_.dropout) : 0) {
    load_queries();
  }

  ~ForwardTile() {
    if (tiles_) cpu::release_tiles();
  }
  ForwardTile(const ForwardTile&) = delete;
  ForwardTile& operator=(const ForwardTile&) = delete;

  void run() {
    const int64_t visible = rows_ > 0 ? group_.visible(begin_ + rows_ - 1) : 0;
    const int64_t first = group_.first_block(begin_);
    const int64_t stride = padded(shape_.dv);
    const Rows<float> all{cpu::scratch(cpu::Slot::out, rows_ * stride), stride};
    OnlineSoftmax softmax[cpu::kRowBlock];
    const int64_t first_split = first / cpu::kSplitKeys * cpu::kSplitKeys;
    if (visible - first_split <= cpu::kSplitKeys) {
      attend_split(first, visible, all, softmax);
    } else {
      const Rows<float> partial{cpu::scratch(cpu::Slot::partial, rows_ * stride), stride};
      OnlineSoftmax partial_softmax[cpu::kRowBlock];
      for (int64_t key = first_split; key < visible; key += cpu::kSplitKeys) {
        attend_split(HWY_MAX(key, first), HWY_MIN(key + cpu::kSplitKeys, visible), partial,
                     partial_softmax);
        for (int64_t r = 0; r < rows_; ++r)
          merge({partial.data + r * stride, partial_softmax + r}, stride,
                {all.data + r * stride, softmax + r});
      }
    }
    for (int64_t r = 0; r < rows_; ++r)
      finish_row(tensors_.results, group_, begin_ + r, {all.data + r * stride, softmax + r});
  }

  /// Writes the partial results over one split of the keys: [rows, partial_floats()].
  void run_split(int64_t split, float* to) {
    const int64_t floats = cpu::partial_floats(shape_), key = split * cpu::kSplitKeys;
    const int64_t begin = HWY_MAX(key, group_.first_block(begin_));
    const int64_t end = HWY_MIN(key + cpu::kSplitKeys, group_.visible(begin_ + rows_ - 1));
    OnlineSoftmax softmax[cpu::kRowBlock];
    attend_split(begin, end, {to, floats}, softmax);
    for (int64_t r = 0; r < rows_; ++r) {
      to[(r + 1) * floats - 2] = softmax[r].largest;
      to[(r + 1) * floats - 1] = softmax[r].sum;
    }
  }

 private:
  static constexpr bool kMayTile = std::is_same_v<K, bfloat16>;

  bool f32_queries() const { return tensors_.results.dtype == DType::f32; }

  /// Without a causal mask, keys of fewer bits than the queries do not use tiles. Such keys come
  /// from an encoder's output, to which a decoder attends one row at a time: packing does not pay.
  bool uses_tiles() const {
    const bool same_dtype = tensors_.results.dtype == dtype_of<K>;
    return kMayTile && (same_dtype || shape_.causal) && has_tiles<K>(shape_.d, shape_.dv);
  }

  template <typename T>
  void pack_queries_of() {
    q_ = pack_queries(group_, reinterpret_cast<const T*>(tensors_.q), shape_.d, shape_.scale,
                      begin_, rows_, cpu::Slot::q);
  }

  void load_queries() {
    f32_queries() ? pack_queries_of<float>() : pack_queries_of<bfloat16>();
    if constexpr (kMayTile)
      if (tiles_)
        q_parts_ = bf16_parts(q_, rows_, shape_.d, query_parts(f32_queries(), shape_.scale),
                              cpu::Slot::q_parts);
  }

  /// The partial results of all rows over the keys [begin, end), which are of one split.
  void attend_split(int64_t begin, int64_t end, Rows<float> out, OnlineSoftmax* softmax) {
    std::fill(softmax, softmax + rows_, OnlineSoftmax());
    for (int64_t key = begin; key < end; key += cpu::kKeyBlock) {
      const int64_t count = HWY_MIN(cpu::kKeyBlock, end - key);
      load_keys(key, count);
      const int64_t panel = tiles_ ? cpu::kTileRows : decodes_ ? kDecodeRows : cpu::kPanelRows;
      for (int64_t r = 0; r < rows_; r += panel) {
        const int64_t first_key = HWY_MAX(begin, group_.first_block(begin_ + r));
        attend({r, HWY_MIN(panel, rows_ - r), key, count, first_key},
               {out.data + r * out.stride, out.stride}, softmax + r);
      }
    }
  }

  void load_keys(int64_t key, int64_t count) {
    k_rows_ = find_keys(group_, reinterpret_cast<const K*>(tensors_.k), shape_.d, key, count);
    v_rows_ = find_keys(group_, reinterpret_cast<const K*>(tensors_.v), shape_.dv, key, count);
    if (decodes_) return;
    if constexpr (kMayTile)
      if (tiles_) {
        k_panels_ = pack_key_panels(k_rows_, shape_.d, count, cpu::Slot::k);
        v_panels_ = pack_value_panels(v_rows_, shape_.dv, count, cpu::Slot::v);
        return;
      }
    const Rows<float> k_transposed{
        cpu::scratch(cpu::Slot::k_transposed, cpu::kKeyBlock * padded(shape_.d)), padded(count)};
    pack_transposed(k_rows_, shape_.d, count, cpu::Slot::k, k_transposed);
    k_transposed_ = {k_transposed.data, k_transposed.stride};
    v_ = pack_keys(v_rows_, shape_.dv, count, cpu::Slot::v);
  }

  /// Rows [row, row + rows) of the tile and a block of keys; `first_key` begins the first block
  /// that these rows attend to.
  struct Panel {
    int64_t row, rows, key, count, first_key;
  };

  /// Updates the partial results of a panel's rows with its keys.
  void attend(const Panel& at, Rows<float> out, OnlineSoftmax* softmax) {
    const int64_t last = begin_ + at.row + at.rows - 1;
    const int64_t seen = std::clamp<int64_t>(group_.visible(last) - at.key, 0, at.count);
    if (seen == 0 || at.key < at.first_key) return;
    const bool first = at.key == at.first_key;
    const Rows<float> scores{cpu::scratch(cpu::Slot::scores, cpu::kTileRows * cpu::kKeyBlock),
                             cpu::kKeyBlock};
    score(at, seen, scores);
    for (int64_t i = 0; i < at.rows; i += kDecodeRows) {
      const Rows<float> some{scores.data + i * scores.stride, scores.stride};
      const Rows<float> values{first ? nullptr : out.data + i * out.stride, out.stride};
      softmax_rows({at.row + i, HWY_MIN(kDecodeRows, at.rows - i), at.key, seen, at.first_key},
                   some, values, softmax + i);
    }
    add_values(at.rows, seen, {scores.data, scores.stride}, out, !first);
  }

  /// Turns scores into weights, and rescales the values so far (null: none).
  void softmax_rows(const Panel& at, Rows<float> scores, Rows<float> values,
                    OnlineSoftmax* softmax) {
    SoftmaxRow rows[kDecodeRows];
    for (int64_t i = 0; i < at.rows; ++i) {
      const int64_t row = begin_ + at.row + i;
      float* row_scores = scores.data + i * scores.stride;
      if (adjusts_scores_) adjust_scores({group_, row, at.key, at.count, row_scores}, nullptr);
      rows[i] = {row_scores,
                 std::clamp<int64_t>(group_.visible(row) - at.key, 0, at.count),
                 {drop_threshold_, drop_threshold_ > 0 ? group_.dropout_key(row) : 0, at.key},
                 softmax + i,
                 1.0f};
    }
    update_softmax(rows, at.rows, tiles_ ? tile_depth(at.count) : padded(at.count));
    for (int64_t i = 0; i < at.rows && values.data; ++i)
      if (rows[i].rescale != 1.0f)
        scale_row(values.data + i * values.stride, padded(shape_.dv), rows[i].rescale);
  }

  /// The inner size, in tiles, of a product with the weights of so many keys.
  static int64_t tile_depth(int64_t keys) { return round_up(keys, cpu::kTileDepth); }

  void score(const Panel& at, int64_t seen, Rows<float> scores) const {
    const float* q = q_.data + at.row * q_.stride;
    if (tiles_)
      cpu::multiply_tiles({q_parts_.from(at.row), k_panels_, at.rows,
                           (seen + cpu::kTileCols - 1) / cpu::kTileCols, shape_.d, scores.data,
                           scores.stride, false});
    else if (decodes_)
      score_rows(at.rows, {q, q_.stride}, shape_.d, k_rows_, seen, scores);
    else
      product(at.rows, vectors_for(seen), shape_.d, {q, q_.stride, 1}, k_transposed_, scores,
              false);
  }

  void add_values(int64_t rows, int64_t seen, Rows<const float> weights, Rows<float> out,
                  bool accumulate) const {
    if (tiles_) {
      const int64_t depth = tile_depth(seen);
      const auto parts =
          bf16_parts(weights, rows, depth, weight_parts(f32_queries()), cpu::Slot::weights);
      cpu::multiply_tiles({parts, v_panels_, rows, shape_.dv / cpu::kTileCols, depth, out.data,
                           out.stride, accumulate});
    } else if (decodes_) {
      accumulate_values(rows, weights, v_rows_, seen, shape_.dv, out, accumulate);
    } else {
      product(rows, vectors_for(shape_.dv), seen, {weights.data, weights.stride, 1}, v_, out,
              accumulate);
    }
  }

  const cpu::ForwardTensors& tensors_;
  const cpu::AttentionGroup& group_;
  const cpu::AttentionShape& shape_;
  int64_t begin_, rows_;
  Rows<const float> q_{}, k_transposed_{}, v_{};
  bool tiles_;    // products go through bf16 tiles
  bool decodes_;  // decode attention: keys and values are read in place
  bool adjusts_scores_;
  uint32_t drop_threshold_;
  KeyRows<K> k_rows_, v_rows_;
  cpu::TileRows q_parts_{};
  cpu::TilePanels k_panels_{}, v_panels_{};
};

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
