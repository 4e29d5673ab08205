// The forward pass of attention, a tile of query rows at a time. Included once per instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heed/base/rounding.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/attention/pairs-inl.h"
#include "heed/kernels/cpu/attention/rows-inl.h"
#include "heed/kernels/cpu/attention/scores-inl.h"
#include "heed/kernels/cpu/attention/softmax-inl.h"
#include "heed/kernels/cpu/attention/work.h"

#ifndef HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
#define HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
namespace heed::kernels::cpu {

template <typename T>
struct ForwardResults {
  T* out;
  float* log_sum;
};

/// Queries and results in T, keys and values in K.
template <typename T, typename K>
struct ForwardTensors {
  const T* q;
  const K *k, *v;
  ForwardResults<T> results;
};

/// What tasks that share the keys of a group leave of a row and a piece of the keys: its mixed
/// values, padded, and behind them its softmax.
inline int64_t piece_floats(const AttentionShape& shape) { return round_up(shape.dv + 16, 16); }

inline int64_t pieces_of(const AttentionGroup& group) { return ceil_div(group.keys, kKeyPiece); }

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

HWY_INLINE void multiply_row(float* row, int64_t width, float factor) {
  const F32 d;
  for (int64_t c = 0; c < width; c += lanes())
    hn::Store(hn::Mul(hn::Load(d, row + c), hn::Set(d, factor)), d, row + c);
}

/// The result of a row of a group, from what it has of all keys.
template <typename T>
HWY_INLINE void finish_row(const cpu::ForwardResults<T>& results, const cpu::AttentionGroup& group,
                           int64_t row, Mixture mixed) {
  const cpu::AttentionShape& shape = *group.shape;
  const int64_t index = group.row_index(row);
  T* out = results.out + index * shape.dv;
  if (group.visible(row) == 0 || mixed.softmax->sum == 0.0f) {
    std::fill(out, out + shape.dv, T(0.0f));
    results.log_sum[index] = -std::numeric_limits<float>::infinity();
    return;
  }
  unpack_row(mixed.values, shape.dv, 1.0f / (mixed.softmax->sum * (1.0f - shape.dropout)), out);
  results.log_sum[index] = mixed.softmax->largest + std::log(mixed.softmax->sum);
}

/// The tile of one task: its query rows, and one block of keys after the other.
template <typename T, typename K>
class ForwardTile {
 public:
  ForwardTile(const cpu::ForwardTensors<T, K>& tensors, const cpu::AttentionTask& task)
      : tensors_(tensors),
        group_(task.group),
        shape_(*task.group.shape),
        begin_(task.row_begin),
        rows_(task.row_end - task.row_begin),
        tiles_(kMayTile && (kSameTypes || shape_.causal) && has_tiles<K>(shape_.d, shape_.dv)),
        few_(!tiles_ && rows_ <= kFewRows && readable_in_place<K>(shape_.d, shape_.dv)),
        adjusts_scores_(shape_.adjusts_scores()),
        drop_threshold_(shape_.dropout > 0.0f ? drop_threshold(shape_.dropout) : 0) {
    q_ = pack_queries(group_, tensors_.q, shape_.d, shape_.scale, begin_, rows_, cpu::Slot::q);
    if constexpr (kMayTile)
      if (tiles_)
        q_parts_ = split(q_, rows_, shape_.d, query_parts<T>(shape_.scale), cpu::Slot::q_parts);
  }

  ~ForwardTile() {
    if (tiles_) cpu::release_tiles();
  }
  ForwardTile(const ForwardTile&) = delete;
  ForwardTile& operator=(const ForwardTile&) = delete;

  void run() {
    const int64_t visible = rows_ > 0 ? group_.visible(begin_ + rows_ - 1) : 0;
    const int64_t first = group_.first_block(begin_);
    const int64_t step = padded(shape_.dv);
    const Rows<float> all{cpu::scratch(cpu::Slot::out, rows_ * step), step};
    Softmax softmax[cpu::kRowBlock];
    const int64_t first_piece = first / cpu::kKeyPiece * cpu::kKeyPiece;
    if (visible - first_piece <= cpu::kKeyPiece) {
      mix(first, visible, all, softmax);
    } else {
      const Rows<float> piece{cpu::scratch(cpu::Slot::piece, rows_ * step), step};
      Softmax of_piece[cpu::kRowBlock];
      for (int64_t key = first_piece; key < visible; key += cpu::kKeyPiece) {
        mix(HWY_MAX(key, first), HWY_MIN(key + cpu::kKeyPiece, visible), piece, of_piece);
        for (int64_t r = 0; r < rows_; ++r)
          join({piece.data + r * step, of_piece + r}, step, {all.data + r * step, softmax + r});
      }
    }
    for (int64_t r = 0; r < rows_; ++r)
      finish_row(tensors_.results, group_, begin_ + r, {all.data + r * step, softmax + r});
  }

  /// Leaves what the rows have of one piece of the keys: [rows, piece_floats()].
  void run_piece(int64_t piece, float* to) {
    const int64_t floats = cpu::piece_floats(shape_), key = piece * cpu::kKeyPiece;
    const int64_t begin = HWY_MAX(key, group_.first_block(begin_));
    const int64_t end = HWY_MIN(key + cpu::kKeyPiece, group_.visible(begin_ + rows_ - 1));
    Softmax softmax[cpu::kRowBlock];
    mix(begin, end, {to, floats}, softmax);
    for (int64_t r = 0; r < rows_; ++r) {
      to[(r + 1) * floats - 2] = softmax[r].largest;
      to[(r + 1) * floats - 1] = softmax[r].sum;
    }
  }

 private:
  static constexpr bool kMayTile = std::is_same_v<K, bfloat16>;
  /// Keys that are kept in fewer bits than queries and not masked are those of a memory. A decoder
  /// reads them a row at a time, for which packing them would take too long.
  static constexpr bool kSameTypes = std::is_same_v<T, K>;

  /// What every row has of the keys [begin, end), which are of one piece.
  void mix(int64_t begin, int64_t end, Rows<float> out, Softmax* softmax) {
    std::fill(softmax, softmax + rows_, Softmax());
    for (int64_t key = begin; key < end; key += cpu::kKeyBlock) {
      const int64_t count = HWY_MIN(cpu::kKeyBlock, end - key);
      load_keys(key, count);
      const int64_t panel = tiles_ ? cpu::kTileRows : few_ ? kFewRows : cpu::kPanelRows;
      for (int64_t r = 0; r < rows_; r += panel) {
        const int64_t first_key = HWY_MAX(begin, group_.first_block(begin_ + r));
        attend({r, HWY_MIN(panel, rows_ - r), key, count, first_key},
               {out.data + r * out.step, out.step}, softmax + r);
      }
    }
  }

  void load_keys(int64_t key, int64_t count) {
    k_rows_ = find_keys(group_, tensors_.k, shape_.d, key, count);
    v_rows_ = find_keys(group_, tensors_.v, shape_.dv, key, count);
    if (few_) return;
    if constexpr (kMayTile)
      if (tiles_) {
        k_panels_ = pack_key_panels(k_rows_, shape_.d, count, cpu::Slot::k);
        v_panels_ = pack_value_panels(v_rows_, shape_.dv, count, cpu::Slot::v);
        return;
      }
    const Rows<float> k_transposed{
        cpu::scratch(cpu::Slot::k_transposed, cpu::kKeyBlock * padded(shape_.d)), padded(count)};
    pack_transposed(k_rows_, shape_.d, count, cpu::Slot::k, k_transposed);
    k_transposed_ = {k_transposed.data, k_transposed.step};
    v_ = pack_keys(v_rows_, shape_.dv, count, cpu::Slot::v);
  }

  /// Rows [row, row + rows) of the tile and a block of keys, the first of which that they see
  /// belongs to the block that begins with first_key.
  struct Panel {
    int64_t row, rows, key, count, first_key;
  };

  /// The rows of a panel take in its keys.
  void attend(const Panel& at, Rows<float> out, Softmax* softmax) {
    const int64_t last = begin_ + at.row + at.rows - 1;
    const int64_t seen = std::clamp<int64_t>(group_.visible(last) - at.key, 0, at.count);
    if (seen == 0 || at.key < at.first_key) return;
    const bool first = at.key == at.first_key;
    const Rows<float> scores{cpu::scratch(cpu::Slot::scores, cpu::kTileRows * cpu::kKeyBlock),
                             cpu::kKeyBlock};
    score(at, seen, scores);
    for (int64_t i = 0; i < at.rows; i += kFewRows) {
      const Rows<float> some{scores.data + i * scores.step, scores.step};
      const Rows<float> mixed{first ? nullptr : out.data + i * out.step, out.step};
      soften_rows({at.row + i, HWY_MIN(kFewRows, at.rows - i), at.key, seen, at.first_key}, some,
                  mixed, softmax + i);
    }
    add_values(at.rows, seen, {scores.data, scores.step}, out, !first);
  }

  /// Scores become weights, and what the rows have so far (null: nothing) shrinks accordingly.
  void soften_rows(const Panel& at, Rows<float> scores, Rows<float> mixed, Softmax* softmax) {
    SoftmaxRow rows[kFewRows];
    for (int64_t i = 0; i < at.rows; ++i) {
      const int64_t row = begin_ + at.row + i;
      float* of_row = scores.data + i * scores.step;
      if (adjusts_scores_) adjust_scores({group_, row, at.key, at.count, of_row}, nullptr);
      rows[i] = {of_row,
                 std::clamp<int64_t>(group_.visible(row) - at.key, 0, at.count),
                 {drop_threshold_, drop_threshold_ > 0 ? group_.dropout_key(row) : 0, at.key},
                 softmax + i,
                 1.0f};
    }
    soften(rows, at.rows, tiles_ ? depth_of(at.count) : padded(at.count));
    for (int64_t i = 0; i < at.rows && mixed.data; ++i)
      if (rows[i].shrink != 1.0f)
        multiply_row(mixed.data + i * mixed.step, padded(shape_.dv), rows[i].shrink);
  }

  /// Of a product with the weights of so many keys in tiles.
  static int64_t depth_of(int64_t keys) { return round_up(keys, cpu::kTileDepth); }

  void score(const Panel& at, int64_t seen, Rows<float> scores) const {
    const float* q = q_.data + at.row * q_.step;
    if (tiles_)
      cpu::multiply_tiles({q_parts_.from(at.row), k_panels_, at.rows,
                           (seen + cpu::kTileCols - 1) / cpu::kTileCols, shape_.d, scores.data,
                           scores.step, false});
    else if (few_)
      with_rows(at.rows, [&](auto rows) HWY_ATTR {
        score_rows<decltype(rows)::value>({q, q_.step}, shape_.d, k_rows_, seen, scores);
      });
    else
      product(at.rows, vectors_for(seen), shape_.d, {q, q_.step, 1}, k_transposed_, scores, false);
  }

  void add_values(int64_t rows, int64_t seen, Rows<const float> weights, Rows<float> out,
                  bool accumulate) const {
    if (tiles_) {
      const int64_t depth = depth_of(seen);
      const auto parts = split(weights, rows, depth, kWeightParts<T>, cpu::Slot::weights);
      cpu::multiply_tiles({parts, v_panels_, rows, shape_.dv / cpu::kTileCols, depth, out.data,
                           out.step, accumulate});
    } else if (few_) {
      with_rows(rows, [&](auto count) HWY_ATTR {
        mix_rows<decltype(count)::value>(weights, v_rows_, seen, shape_.dv, out, accumulate);
      });
    } else {
      product(rows, vectors_for(shape_.dv), seen, {weights.data, weights.step, 1}, v_, out,
              accumulate);
    }
  }

  const cpu::ForwardTensors<T, K>& tensors_;
  const cpu::AttentionGroup& group_;
  const cpu::AttentionShape& shape_;
  int64_t begin_, rows_;
  Rows<const float> q_{}, k_transposed_{}, v_{};
  bool tiles_;  // products go through tiles of bf16
  bool few_;    // so few rows that keys and values are read where they lie
  bool adjusts_scores_;
  uint32_t drop_threshold_;
  KeyRows<K> k_rows_, v_rows_;
  cpu::TileRows q_parts_{};
  cpu::TilePanels k_panels_{}, v_panels_{};
};

/// Joins what run_piece() left of the pieces of a group's keys.
template <typename T>
void join_pieces(const cpu::ForwardResults<T>& results, const cpu::AttentionGroup& group,
                 float* pieces) {
  const int64_t floats = cpu::piece_floats(*group.shape), width = padded(group.shape->dv);
  float* values = cpu::scratch(cpu::Slot::out, width);
  for (int64_t r = 0; r < group.rows(); ++r) {
    Softmax all;
    for (int64_t piece = 0; piece < cpu::pieces_of(group); ++piece) {
      float* from = pieces + (piece * group.rows() + r) * floats;
      Softmax of_piece{from[floats - 2], from[floats - 1]};
      join({from, &of_piece}, width, {values, &all});
    }
    finish_row(results, group, r, {values, &all});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
