#include <algorithm>
#include <limits>

#include "heed/kernels/attention.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/attention/bias_gradient.h"
#include "heed/kernels/cpu/attention/sink_gradient.h"
#include "heed/kernels/cpu/attention/work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention/backward.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention/scores-inl.h"
#include "heed/kernels/cpu/attention/tiles-inl.h"
#include "heed/kernels/cpu/simd/counter_hash-inl.h"

#ifndef HEED_KERNELS_CPU_ATTENTION_BACKWARD_TENSORS
#define HEED_KERNELS_CPU_ATTENTION_BACKWARD_TENSORS
namespace heed::kernels::cpu {

template <typename T>
struct BackwardTensors {
  const T *q, *k, *v, *out, *d_out;
  const float* logsumexp;
  T *dq, *dk, *dv;
  float* d_pair_bias;  // null: not computed
};

/// A rectangle of rows and keys, and which gradients the task computes: those of its rows, for
/// which the rectangle holds all keys that they see; those of its keys, for which it holds all rows
/// that see them; or both.
struct BackwardTask {
  AttentionTask rectangle;
  bool rows, keys;
  float* bias_sums;  // of the group; added to by tasks that compute the gradients of their keys
};

}  // namespace heed::kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Goes through a task's rectangle tile by tile, keys in the outer loop, rows in the inner one, and
/// recomputes the weights P from logsumexp. With m = the dropout mask (0 or 1 / (1 - p)):
///   dV = (P m)^T dO, dS = P (m dO V^T - rowsum(dO O)), dQ = scale dS K, dK = scale dS^T Q,
/// where for dQ and dK dS is multiplied with the derivative of the soft cap. Every gradient is a
/// sum over the rows or keys of its sequence in their order, however groups are divided into
/// rectangles.
template <typename T>
class BackwardTile {
 public:
  BackwardTile(const cpu::BackwardTensors<T>& tensors, const cpu::BackwardTask& task)
      : tensors_(tensors),
        task_(task),
        area_(task.rectangle),
        group_(task.rectangle.group),
        shape_(*task.rectangle.group.shape),
        d_(shape_.d),
        dv_(shape_.dv),
        adjusts_scores_(shape_.adjusts_scores()),
        drop_threshold_(shape_.dropout > 0.0f ? drop_threshold(shape_.dropout) : 0) {}

  void run() {
    const int64_t rows = area_.row_end - area_.row_begin;
    if (task_.rows) q_gradient_ = room(cpu::Slot::dq, rows, d_);
    if (area_.key_begin == area_.key_end) clear_rows(area_.row_begin, rows);
    for (key_ = area_.key_begin; key_ < area_.key_end; key_ += cpu::kKeyBlock) {
      keys_ = HWY_MIN(cpu::kKeyBlock, area_.key_end - key_);
      load_keys();
      for (row_ = area_.row_begin; row_ < area_.row_end; row_ += cpu::kRowBlock) {
        rows_ = HWY_MIN(cpu::kRowBlock, area_.row_end - row_);
        if (group_.visible(row_ + rows_ - 1) <= key_) {
          if (key_ == area_.key_begin) clear_rows(row_, rows_);
          continue;
        }
        if (group_.outside_window(row_) >= key_ + keys_) continue;
        if (rows > cpu::kRowBlock || !rows_loaded_) load_rows();
        for (int64_t r = 0; r < rows_; r += cpu::kPanelRows)
          differentiate_rows(r, HWY_MIN(cpu::kPanelRows, rows_ - r));
        if (!task_.keys) continue;
        for (int64_t j = 0; j < keys_; j += cpu::kPanelRows)
          differentiate_keys(j, HWY_MIN(cpu::kPanelRows, keys_ - j));
      }
      if (task_.keys) write_keys();
    }
    if (!task_.rows) return;
    for (int64_t r = 0; r < rows; ++r)
      unpack_row(q_gradient_.data + r * q_gradient_.stride, d_, shape_.scale,
                 tensors_.dq + group_.row_index(area_.row_begin + r) * d_);
  }

 private:
  static Rows<float> room(cpu::Slot slot, int64_t rows, int64_t width) {
    return {cpu::scratch(slot, rows * padded(width)), padded(width)};
  }

  static void clear(Rows<float> x, int64_t begin, int64_t count) {
    std::memset(x.data + begin * x.stride, 0,
                static_cast<size_t>(count * x.stride) * sizeof(float));
  }

  /// Clears dq of rows that see no key of the first block, and so no key at all.
  void clear_rows(int64_t row, int64_t count) {
    if (task_.rows) clear(q_gradient_, row - area_.row_begin, count);
  }

  void load_keys() {
    const int64_t stride = padded(keys_);
    const Rows<float> k_transposed{room(cpu::Slot::k_transposed, cpu::kKeyBlock, d_).data, stride};
    const Rows<float> v_transposed{room(cpu::Slot::v_transposed, cpu::kKeyBlock, dv_).data, stride};
    k_ = pack_keys(find_keys(group_, tensors_.k, d_, key_, keys_), d_, keys_, cpu::Slot::k);
    transpose(k_, keys_, d_, k_transposed);
    pack_transposed(find_keys(group_, tensors_.v, dv_, key_, keys_), dv_, keys_, cpu::Slot::v,
                    v_transposed);
    k_transposed_ = {k_transposed.data, stride};
    v_transposed_ = {v_transposed.data, stride};
    if (!task_.keys) return;
    k_gradient_ = room(cpu::Slot::dk, keys_, d_);
    v_gradient_ = room(cpu::Slot::dv, keys_, dv_);
  }

  void load_rows() {
    rows_loaded_ = true;
    q_ = pack_queries(group_, tensors_.q, d_, shape_.scale, row_, rows_, cpu::Slot::q);
    d_out_ = pack_queries(group_, tensors_.d_out, dv_, 1.0f, row_, rows_, cpu::Slot::out);
    for (int64_t r = 0; r < rows_; ++r) {
      const int64_t index = group_.row_index(row_ + r);
      logsumexp_[r] = tensors_.logsumexp[index];
      mean_[r] = dot(d_out_.data + r * d_out_.stride, tensors_.out + index * dv_);
    }
    weights_ = {cpu::scratch(cpu::Slot::scores, cpu::kRowBlock * cpu::kKeyBlock), padded(keys_)};
    d_scores_ = {cpu::scratch(cpu::Slot::d_scores, cpu::kRowBlock * cpu::kKeyBlock), padded(keys_)};
  }

  float dot(const float* packed, const T* row) const {
    const F32 d;
    auto sum = hn::Zero(d);
    int64_t c = 0;
    for (; c + lanes() <= dv_; c += lanes())
      sum = hn::MulAdd(hn::Load(d, packed + c), load(d, row + c), sum);
    if (c < dv_) {
      const auto tail = load_first(d, row + c, static_cast<size_t>(dv_ - c));
      sum = hn::MulAdd(hn::Load(d, packed + c), tail, sum);
    }
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

  /// Rows [r, r + rows) of the tile: weights, d_scores, and what the tile adds to dq.
  void differentiate_rows(int64_t r, int64_t rows) {
    const int64_t seen = std::clamp<int64_t>(group_.visible(row_ + r + rows - 1) - key_, 0, keys_);
    if (seen == 0) {
      if (key_ == area_.key_begin) clear_rows(row_ + r, rows);
      return;
    }
    const int64_t first_block = group_.first_block(row_ + r);
    if (key_ < first_block) return;
    const Rows<float> weights{weights_.data + r * weights_.stride, weights_.stride};
    const Rows<float> d_scores{d_scores_.data + r * d_scores_.stride, d_scores_.stride};
    product(rows, vectors_for(seen), d_, {q_.data + r * q_.stride, q_.stride, 1}, k_transposed_,
            weights, false);
    product(rows, vectors_for(seen), dv_, {d_out_.data + r * d_out_.stride, d_out_.stride, 1},
            v_transposed_, d_scores, false);
    for (int64_t i = 0; i < rows; ++i)
      differentiate_softmax(r + i, weights.data + i * weights.stride,
                            d_scores.data + i * d_scores.stride);
    if (!task_.rows) return;
    float* dq = q_gradient_.data + (row_ + r - area_.row_begin) * q_gradient_.stride;
    product(rows, vectors_for(d_), seen, {d_scores.data, d_scores.stride, 1}, k_,
            {dq, q_gradient_.stride}, key_ > first_block);
  }

  /// Turns the scores of row r into weights after dropout, and d_weights into d_scores; zeros where
  /// masked.
  void differentiate_softmax(int64_t r, float* scores, float* d_weights) {
    const F32 d;
    const bool any = logsumexp_[r] != -std::numeric_limits<float>::infinity();
    const int64_t visible =
        any ? std::clamp<int64_t>(group_.visible(row_ + r) - key_, 0, keys_) : 0;
    const uint64_t dropout_key = drop_threshold_ > 0 ? group_.dropout_key(row_ + r) : 0;
    const auto logsumexp = hn::Set(d, logsumexp_[r]);
    const ScoreRow at{group_, row_ + r, key_, visible, scores};
    HWY_ALIGN float derivatives[cpu::kKeyBlock];
    if (adjusts_scores_) adjust_scores(at, derivatives);
    int64_t j = 0;
    for (; j + lanes() <= visible; j += lanes()) {
      const auto weight = exp_nonpositive(hn::Sub(hn::Load(d, scores + j), logsumexp));
      differentiate_weights(r, weight, dropout_key, j, scores, d_weights);
    }
    if (j < visible) {
      const auto inside = hn::FirstN(d, static_cast<size_t>(visible - j));
      const auto weight =
          hn::IfThenElseZero(inside, exp_nonpositive(hn::Sub(hn::Load(d, scores + j), logsumexp)));
      hn::Store(hn::IfThenElseZero(inside, hn::Load(d, d_weights + j)), d, d_weights + j);
      differentiate_weights(r, weight, dropout_key, j, scores, d_weights);
      j += lanes();
    }
    for (; j < weights_.stride; j += lanes()) {
      hn::Store(hn::Zero(d), d, scores + j);
      hn::Store(hn::Zero(d), d, d_weights + j);
    }
    if (!adjusts_scores_) return;
    if (task_.keys && task_.bias_sums) add_bias_gradient(at, d_weights, bias_sums(row_ + r));
    if (task_.keys && tensors_.d_pair_bias && visible > 0)
      std::copy_n(d_weights, visible, tensors_.d_pair_bias + group_.pair_index(row_ + r, key_));
    if (shape_.soft_cap > 0.0f)
      for (j = 0; j < visible; j += lanes())
        hn::Store(hn::Mul(hn::Load(d, d_weights + j), hn::Load(d, derivatives + j)), d,
                  d_weights + j);
  }

  /// The sums of the block of keys and a row's head.
  float* bias_sums(int64_t row) const {
    const int64_t heads = shape_.heads_per_group;
    return task_.bias_sums + (key_ / cpu::kKeyBlock * heads + row % heads) * shape_.bias_width();
  }

  HWY_INLINE void differentiate_weights(int64_t r, V32 weight, uint64_t dropout_key, int64_t j,
                                        float* weights, float* d_weights) {
    const F32 d;
    auto d_weight = hn::Load(d, d_weights + j);
    auto dropped_weight = weight;
    if (drop_threshold_ > 0) {
      const auto kept = hn::Set(d, 1.0f / (1.0f - shape_.dropout));
      const auto hash = counter_hash_lanes(dropout_key, static_cast<uint64_t>(key_ + j));
      const auto drop = hn::RebindMask(d, hn::Gt(hn::Set(U32(), drop_threshold_), hash));
      d_weight = hn::IfThenZeroElse(drop, hn::Mul(d_weight, kept));
      dropped_weight = hn::IfThenZeroElse(drop, hn::Mul(weight, kept));
    }
    hn::Store(dropped_weight, d, weights + j);
    hn::Store(hn::Mul(weight, hn::Sub(d_weight, hn::Set(d, mean_[r]))), d, d_weights + j);
  }

  /// The rows of the group that see any of the keys [j, j + keys) of the block.
  struct RowsSeeing {
    int64_t begin, end;
  };
  RowsSeeing rows_seeing(int64_t j, int64_t keys) const {
    return {group_.first_row_seeing(key_ + j), group_.end_row_seeing(key_ + j + keys - 1)};
  }

  /// What the tile adds to dk and dv of its keys [j, j + keys).
  void differentiate_keys(int64_t j, int64_t keys) {
    const RowsSeeing seeing = rows_seeing(j, keys);
    const bool accumulate = seeing.begin < row_;
    const int64_t first = HWY_MAX(seeing.begin - row_, int64_t{0});
    const int64_t count = HWY_MIN(seeing.end - row_, rows_) - first;
    if (count <= 0) return;
    product(keys, vectors_for(dv_), count,
            {weights_.data + first * weights_.stride + j, 1, weights_.stride},
            {d_out_.data + first * d_out_.stride, d_out_.stride},
            {v_gradient_.data + j * v_gradient_.stride, v_gradient_.stride}, accumulate);
    product(keys, vectors_for(d_), count,
            {d_scores_.data + first * d_scores_.stride + j, 1, d_scores_.stride},
            {q_.data + first * q_.stride, q_.stride},
            {k_gradient_.data + j * k_gradient_.stride, k_gradient_.stride}, accumulate);
  }

  void write_keys() {
    for (int64_t j = 0; j < keys_; j += cpu::kPanelRows) {
      const int64_t keys = HWY_MIN(cpu::kPanelRows, keys_ - j);
      const RowsSeeing seeing = rows_seeing(j, keys);
      if (seeing.begin < HWY_MIN(seeing.end, group_.rows())) continue;
      clear(k_gradient_, j, keys);
      clear(v_gradient_, j, keys);
    }
    for (int64_t j = 0; j < keys_; ++j) {
      const int64_t index = group_.key_index(key_ + j);
      unpack_row(k_gradient_.data + j * k_gradient_.stride, d_, 1.0f, tensors_.dk + index * d_);
      unpack_row(v_gradient_.data + j * v_gradient_.stride, dv_, 1.0f, tensors_.dv + index * dv_);
    }
  }

  const cpu::BackwardTensors<T>& tensors_;
  const cpu::BackwardTask& task_;
  const cpu::AttentionTask& area_;
  const cpu::AttentionGroup& group_;
  const cpu::AttentionShape& shape_;
  int64_t d_, dv_;
  bool adjusts_scores_;
  uint32_t drop_threshold_;
  int64_t key_ = 0, keys_ = 0;  // the block of keys
  int64_t row_ = 0, rows_ = 0;  // the block of rows
  bool rows_loaded_ = false;
  Rows<const float> q_{}, d_out_{}, k_{}, k_transposed_{}, v_transposed_{};
  Rows<float> weights_{}, d_scores_{}, q_gradient_{}, k_gradient_{}, v_gradient_{};
  float logsumexp_[cpu::kRowBlock], mean_[cpu::kRowBlock];
};

void backward_f32(const cpu::BackwardTensors<float>& tensors, const cpu::BackwardTask& task) {
  BackwardTile<float>(tensors, task).run();
}

void backward_bf16(const cpu::BackwardTensors<bfloat16>& tensors, const cpu::BackwardTask& task) {
  BackwardTile<bfloat16>(tensors, task).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_bf16);

namespace cpu {
namespace {

/// Floats of a whole group's dq that a thread may hold: 16 MiB.
constexpr int64_t kMaxFloats = int64_t{1} << 22;

/// One task per group computes all its gradients in one pass, with five products per tile. If the
/// threads would wait for a long group, or its dq would take too much memory, it is divided: into
/// tasks for the gradients of row blocks and for those of key blocks, with three and four products
/// per tile. The sums are the same.
void find_tasks(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                BiasGradient& bias, std::vector<BackwardTask>& tasks) {
  double total = 0.0;
  for (const auto& group : groups)
    total += static_cast<double>(group.rows()) * static_cast<double>(group.keys);
  const double max_work = 1.4 * total / thread_count();
  tasks.clear();
  tasks.reserve(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const AttentionGroup& group = groups[i];
    const double work = static_cast<double>(group.rows()) * static_cast<double>(group.keys);
    const bool whole =
        (work <= max_work || group.keys <= kKeyBlock) && group.rows() * shape.d <= kMaxFloats;
    if (whole) {
      tasks.push_back({{group, 0, group.rows(), 0, group.keys}, true, true, bias.of_group(i)});
      continue;
    }
    std::vector<AttentionTask> blocks;
    add_row_blocks(group, 1, blocks);
    for (auto& block : blocks) {
      block.key_begin = group.first_block(block.row_begin);
      block.key_end = group.visible(block.row_end - 1);
      tasks.push_back({block, true, false, nullptr});
    }
    for (int64_t key = 0; key < group.keys; key += kKeyBlock)
      tasks.push_back({{group, 0, group.rows(), key, std::min(key + kKeyBlock, group.keys)},
                       false,
                       true,
                       bias.of_group(i)});
  }
}

}  // namespace

void attention_backward(const AttentionForward& in, const Tensor& out, const Tensor& logsumexp,
                        const Tensor& d_out, AttentionGradients gradients) {
  require(in.spans.kv_rows.empty(), "attention_backward: the keys are gathered through {} kv_rows",
          in.spans.kv_rows.size());
  const AttentionShape shape(in);
  thread_local std::vector<AttentionGroup> groups;
  find_groups(in.spans, shape, false, groups);
  BiasGradient bias(groups, shape);
  thread_local std::vector<BackwardTask> tasks;
  find_tasks(groups, shape, bias, tasks);
  int64_t keys = 0;
  for (size_t b = 0; b < in.spans.kv_begin.size(); ++b)
    keys += in.spans.kv_end[b] - in.spans.kv_begin[b];
  if (keys < in.k.rows()) {
    gradients.dk.fill_zero();
    gradients.dv.fill_zero();
  }
  if (gradients.d_pair_bias.defined()) gradients.d_pair_bias.fill_zero();
  visit_floating(in.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const BackwardTensors<T> tensors{
        in.q.data<T>(),
        in.k.data<T>(),
        in.v.data<T>(),
        out.data<T>(),
        d_out.data<T>(),
        logsumexp.data<float>(),
        gradients.dq.data<T>(),
        gradients.dk.data<T>(),
        gradients.dv.data<T>(),
        gradients.d_pair_bias.defined() ? gradients.d_pair_bias.data<float>() : nullptr};
    for_tasks(tasks, shape, [&](const BackwardTask& task) {
      if constexpr (sizeof(T) == 4)
        HWY_DYNAMIC_DISPATCH(backward_f32)(tensors, task);
      else
        HWY_DYNAMIC_DISPATCH(backward_bf16)(tensors, task);
    });
  });
  if (gradients.d_relative_bias.defined()) bias.write(gradients.d_relative_bias);
  if (gradients.d_sinks.defined()) add_sink_gradient(in, out, logsumexp, d_out, gradients.d_sinks);
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
