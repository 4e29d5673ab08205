#include <cmath>
#include <limits>

#include "heed/kernels/attention.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/attention_work.h"
#include "heed/tensor/allocator.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention_forward.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention_rows-inl.h"
#include "heed/kernels/cpu/attention_scores-inl.h"
#include "heed/kernels/cpu/attention_softmax-inl.h"
#include "heed/kernels/cpu/attention_tiles-inl.h"

#ifndef HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
#define HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
namespace heed::kernels::cpu {

/// Queries and results in T, keys and values in K.
template <typename T, typename K>
struct ForwardTensors {
  const T* q;
  const K *k, *v;
  T* out;
  float* log_sum;
};

/// What tasks that share the keys of a group leave of a row and a piece of the keys: its mixed
/// values, padded, and behind them its softmax.
inline int64_t piece_floats(const AttentionShape& shape) { return (shape.dv + 31) / 16 * 16; }

inline int64_t pieces_of(const AttentionGroup& group) {
  return (group.keys + kKeyPiece - 1) / kKeyPiece;
}

}  // namespace heed::kernels::cpu
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
template <typename T, typename K>
HWY_INLINE void finish_row(const cpu::ForwardTensors<T, K>& tensors,
                           const cpu::AttentionGroup& group, int64_t row, Mixture mixed) {
  const cpu::AttentionShape& shape = *group.shape;
  const int64_t index = group.row_index(row);
  T* out = tensors.out + index * shape.dv;
  if (group.visible(row) == 0 || mixed.softmax->sum == 0.0f) {
    std::fill(out, out + shape.dv, T(0.0f));
    tensors.log_sum[index] = -std::numeric_limits<float>::infinity();
    return;
  }
  unpack_row(mixed.values, shape.dv, 1.0f / (mixed.softmax->sum * (1.0f - shape.dropout)), out);
  tensors.log_sum[index] = mixed.softmax->largest + std::log(mixed.softmax->sum);
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
        few_(rows_ <= kFewRows && readable_in_place<K>(shape_.d, shape_.dv)),
        adjusts_scores_(shape_.adjusts_scores()),
        drop_threshold_(shape_.dropout > 0.0f ? drop_threshold(shape_.dropout) : 0) {
    q_ = pack_queries(group_, tensors_.q, shape_.d, shape_.scale, begin_, rows_, cpu::Slot::q);
  }

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
      finish_row(tensors_, group_, begin_ + r, {all.data + r * step, softmax + r});
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
  /// What every row has of the keys [begin, end), which are of one piece.
  void mix(int64_t begin, int64_t end, Rows<float> out, Softmax* softmax) {
    std::fill(softmax, softmax + rows_, Softmax());
    for (int64_t key = begin; key < end; key += cpu::kKeyBlock) {
      const int64_t count = HWY_MIN(cpu::kKeyBlock, end - key);
      load_keys(key, count);
      const int64_t panel = few_ ? kFewRows : cpu::kPanelRows;
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
    const Rows<float> scores{cpu::scratch(cpu::Slot::scores, kFewRows * cpu::kKeyBlock),
                             cpu::kKeyBlock};
    score(at, seen, scores);
    SoftmaxRow panel[kFewRows];
    for (int64_t i = 0; i < at.rows; ++i) {
      const int64_t row = begin_ + at.row + i;
      if (adjusts_scores_)
        adjust_scores({group_, row, at.key, seen, scores.data + i * scores.step}, nullptr);
      panel[i] = {scores.data + i * scores.step,
                  std::clamp<int64_t>(group_.visible(row) - at.key, 0, seen),
                  {drop_threshold_, drop_threshold_ > 0 ? group_.dropout_key(row) : 0, at.key},
                  softmax + i,
                  1.0f};
    }
    soften(panel, at.rows, padded(seen));
    for (int64_t i = 0; i < at.rows && !first; ++i)
      if (panel[i].shrink != 1.0f)
        multiply_row(out.data + i * out.step, padded(shape_.dv), panel[i].shrink);
    add_values(at.rows, seen, {scores.data, scores.step}, out, !first);
  }

  void score(const Panel& at, int64_t seen, Rows<float> scores) const {
    const float* q = q_.data + at.row * q_.step;
    if (few_)
      with_rows(at.rows, [&](auto rows) HWY_ATTR {
        score_rows<decltype(rows)::value>({q, q_.step}, shape_.d, k_rows_, seen, scores);
      });
    else
      product(at.rows, vectors_for(seen), shape_.d, {q, q_.step, 1}, k_transposed_, scores, false);
  }

  void add_values(int64_t rows, int64_t seen, Rows<const float> weights, Rows<float> out,
                  bool accumulate) const {
    if (few_)
      with_rows(rows, [&](auto count) HWY_ATTR {
        mix_rows<decltype(count)::value>(weights, v_rows_, seen, shape_.dv, out, accumulate);
      });
    else
      product(rows, vectors_for(shape_.dv), seen, {weights.data, weights.step, 1}, v_, out,
              accumulate);
  }

  const cpu::ForwardTensors<T, K>& tensors_;
  const cpu::AttentionGroup& group_;
  const cpu::AttentionShape& shape_;
  int64_t begin_, rows_;
  Rows<const float> q_{}, k_transposed_{}, v_{};
  bool few_;  // so few rows that keys and values are read where they lie
  bool adjusts_scores_;
  uint32_t drop_threshold_;
  KeyRows<K> k_rows_, v_rows_;
};

/// Joins what run_piece() left of the pieces of a group's keys.
template <typename T, typename K>
void join_pieces(const cpu::ForwardTensors<T, K>& tensors, const cpu::AttentionGroup& group,
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
    finish_row(tensors, group, r, {values, &all});
  }
}

template <typename T, typename K>
void forward_task(const cpu::ForwardTensors<T, K>& tensors, const cpu::AttentionTask& task,
                  float* piece) {
  ForwardTile<T, K> tile(tensors, task);
  piece ? tile.run_piece(task.key_begin / cpu::kKeyPiece, piece) : tile.run();
}

void forward_f32(const cpu::ForwardTensors<float, float>& tensors, const cpu::AttentionTask& task,
                 float* piece) {
  forward_task(tensors, task, piece);
}
void forward_bf16(const cpu::ForwardTensors<bfloat16, bfloat16>& tensors,
                  const cpu::AttentionTask& task, float* piece) {
  forward_task(tensors, task, piece);
}
void forward_mixed(const cpu::ForwardTensors<float, bfloat16>& tensors,
                   const cpu::AttentionTask& task, float* piece) {
  forward_task(tensors, task, piece);
}

void join_f32(const cpu::ForwardTensors<float, float>& tensors, const cpu::AttentionGroup& group,
              float* pieces) {
  join_pieces(tensors, group, pieces);
}
void join_bf16(const cpu::ForwardTensors<bfloat16, bfloat16>& tensors,
               const cpu::AttentionGroup& group, float* pieces) {
  join_pieces(tensors, group, pieces);
}
void join_mixed(const cpu::ForwardTensors<float, bfloat16>& tensors,
                const cpu::AttentionGroup& group, float* pieces) {
  join_pieces(tensors, group, pieces);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_bf16);
HWY_EXPORT(forward_mixed);
HWY_EXPORT(join_f32);
HWY_EXPORT(join_bf16);
HWY_EXPORT(join_mixed);

namespace cpu {
namespace {

void forward(const ForwardTensors<float, float>& tensors, const AttentionTask& task, float* piece) {
  HWY_DYNAMIC_DISPATCH(forward_f32)(tensors, task, piece);
}
void forward(const ForwardTensors<bfloat16, bfloat16>& tensors, const AttentionTask& task,
             float* piece) {
  HWY_DYNAMIC_DISPATCH(forward_bf16)(tensors, task, piece);
}
void forward(const ForwardTensors<float, bfloat16>& tensors, const AttentionTask& task,
             float* piece) {
  HWY_DYNAMIC_DISPATCH(forward_mixed)(tensors, task, piece);
}

void join(const ForwardTensors<float, float>& tensors, const AttentionGroup& group, float* pieces) {
  HWY_DYNAMIC_DISPATCH(join_f32)(tensors, group, pieces);
}
void join(const ForwardTensors<bfloat16, bfloat16>& tensors, const AttentionGroup& group,
          float* pieces) {
  HWY_DYNAMIC_DISPATCH(join_bf16)(tensors, group, pieces);
}
void join(const ForwardTensors<float, bfloat16>& tensors, const AttentionGroup& group,
          float* pieces) {
  HWY_DYNAMIC_DISPATCH(join_mixed)(tensors, group, pieces);
}

/// Multiplications that are not worth waking a thread for.
constexpr int64_t kSmallWork = int64_t{1} << 16;
/// Of a group whose keys threads share: more rows are shared themselves.
constexpr int64_t kSharedRows = 32;

int64_t work_of(const std::vector<AttentionGroup>& groups, const AttentionShape& shape) {
  int64_t keys = 0;
  for (const AttentionGroup& group : groups) keys += group.rows() * group.keys;
  return keys * (shape.d + shape.dv);
}

/// Few rows and many keys in groups too few to keep the threads busy: a thread takes a piece of the
/// keys. The rows of a group are then one task.
bool shares_keys(const std::vector<AttentionGroup>& groups) {
  const auto threads = static_cast<size_t>(thread_count());
  if (threads == 1 || groups.size() >= 8 * threads) return false;
  int64_t most_pieces = 0, most_rows = 0;
  for (const AttentionGroup& group : groups) {
    most_pieces = std::max(most_pieces, pieces_of(group));
    most_rows = std::max(most_rows, group.rows());
  }
  return most_pieces > 1 && most_rows <= kSharedRows;
}

template <typename Tensors>
void run_shared(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                const Tensors& tensors) {
  thread_local std::vector<AttentionTask> tasks;
  thread_local std::vector<int64_t> places;  // of each task's piece among the floats of all
  tasks.clear();
  places.assign(1, 0);
  for (const AttentionGroup& group : groups)
    for (int64_t piece = 0; piece < pieces_of(group) && group.rows() > 0; ++piece) {
      const int64_t key = piece * kKeyPiece;
      tasks.push_back({group, 0, group.rows(), key, std::min(key + kKeyPiece, group.keys)});
      places.push_back(places.back() + group.rows() * piece_floats(shape));
    }
  const auto memory = allocate(static_cast<size_t>(places.back()) * sizeof(float));
  auto* pieces = reinterpret_cast<float*>(memory.get());
  // Bodies run on other threads, which have such lists of their own.
  const std::vector<AttentionTask>& all = tasks;
  const std::vector<int64_t>& at = places;
  parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      forward(tensors, all[i], pieces + at[i]);
  });
  for (const AttentionGroup& group : groups) {
    join(tensors, group, pieces);
    pieces += group.rows() * pieces_of(group) * piece_floats(shape);
  }
}

template <typename Tensors>
void run(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
         const Tensors& tensors) {
  if (shares_keys(groups)) return run_shared(groups, shape, tensors);
  std::vector<AttentionTask> tasks;
  // Fewer groups than threads (one sequence whose heads share a key): each is for several threads.
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(groups.size()), 1);
  const int64_t shares = (thread_count() + count - 1) / count;
  const bool small = work_of(groups, shape) <= kSmallWork;
  for (const AttentionGroup& group : groups) add_row_blocks(group, small ? 1 : shares, tasks);
  const auto body = [&](const AttentionTask& task) { forward(tensors, task, nullptr); };
  if (small)
    for (const AttentionTask& task : tasks) body(task);
  else
    for_tasks(tasks, shape, body);
}

}  // namespace

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& log_sum) {
  const AttentionShape shape(in);
  // Places among the keys are those of one sequence.
  const bool merge = !shape.causal && !shape.relative_bias;
  const std::vector<AttentionGroup> groups = attention_groups(in.spans, shape, merge);
  visit_floating(in.q.dtype(), [&](auto of_query) {
    using T = decltype(of_query);
    visit_floating(in.k.dtype(), [&](auto of_key) {
      using K = decltype(of_key);
      if constexpr (sizeof(K) <= sizeof(T))
        run(groups, shape,
            ForwardTensors<T, K>{in.q.data<T>(), in.k.data<K>(), in.v.data<K>(), out.data<T>(),
                                 log_sum.data<float>()});
      else
        fail("attention: queries in bf16 and keys in f32");
    });
  });
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
