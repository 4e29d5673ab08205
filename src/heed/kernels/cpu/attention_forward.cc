#include <cmath>
#include <limits>

#include "heed/kernels/attention.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/attention_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention_forward.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention_scores-inl.h"
#include "heed/kernels/cpu/attention_softmax-inl.h"
#include "heed/kernels/cpu/attention_tiles-inl.h"

#ifndef HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
#define HEED_KERNELS_CPU_ATTENTION_FORWARD_TENSORS
namespace heed::kernels::cpu {

template <typename T>
struct ForwardTensors {
  const T *q, *k, *v;
  T* out;
  float* log_sum;
};

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

/// Up to this many rows of a task, packing the values costs more than it saves.
constexpr int64_t kFewRows = 2;

/// The tile of one task: its query rows, and one block of keys after the other.
template <typename T>
class ForwardTile {
 public:
  ForwardTile(const cpu::ForwardTensors<T>& tensors, const cpu::AttentionTask& task)
      : tensors_(tensors),
        group_(task.group),
        shape_(*task.group.shape),
        begin_(task.row_begin),
        rows_(task.row_end - task.row_begin),
        out_{cpu::scratch(cpu::Slot::out, rows_ * padded(shape_.dv)), padded(shape_.dv)},
        few_(rows_ <= kFewRows && shape_.dv % (4 * lanes()) == 0),
        adjusts_scores_(shape_.adjusts_scores()),
        drop_threshold_(shape_.dropout > 0.0f ? drop_threshold(shape_.dropout) : 0) {}

  void run() {
    const int64_t d = shape_.d;
    q_ = pack_queries(group_, tensors_.q, d, shape_.scale, begin_, rows_, cpu::Slot::q);
    const int64_t visible = rows_ > 0 ? group_.visible(begin_ + rows_ - 1) : 0;
    for (int64_t key = group_.first_block(begin_); key < visible; key += cpu::kKeyBlock) {
      const int64_t count = HWY_MIN(cpu::kKeyBlock, visible - key);
      load_keys(key, count);
      for (int64_t r = 0; r < rows_; r += cpu::kPanelRows)
        attend(r, HWY_MIN(cpu::kPanelRows, rows_ - r), key, count);
    }
    for (int64_t r = 0; r < rows_; ++r) write(r);
  }

 private:
  void load_keys(int64_t key, int64_t count) {
    const Rows<float> k_transposed{
        cpu::scratch(cpu::Slot::k_transposed, cpu::kKeyBlock * padded(shape_.d)), padded(count)};
    pack_transposed(find_keys(group_, tensors_.k, shape_.d, key, count), shape_.d, count,
                    cpu::Slot::k, k_transposed);
    k_transposed_ = {k_transposed.data, k_transposed.step};
    v_rows_ = find_keys(group_, tensors_.v, shape_.dv, key, count);
    if (!few_) v_ = pack_keys(v_rows_, shape_.dv, count, cpu::Slot::v);
  }

  /// Rows [r, r + rows) of the tile take in the keys of the block.
  void attend(int64_t r, int64_t rows, int64_t key, int64_t count) {
    const int64_t seen = std::clamp<int64_t>(group_.visible(begin_ + r + rows - 1) - key, 0, count);
    const int64_t first_block = group_.first_block(begin_ + r);
    if (seen == 0 || key < first_block) return;
    const bool first = key == first_block;
    const Rows<float> scores{cpu::scratch(cpu::Slot::scores, cpu::kPanelRows * cpu::kKeyBlock),
                             cpu::kKeyBlock};
    product(rows, vectors_for(seen), shape_.d, {q_.data + r * q_.step, q_.step, 1}, k_transposed_,
            scores, false);
    SoftmaxRow panel[cpu::kPanelRows];
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = begin_ + r + i;
      if (first) softmax_[r + i] = {};
      if (adjusts_scores_)
        adjust_scores({group_, row, key, seen, scores.data + i * scores.step}, nullptr);
      panel[i] = {scores.data + i * scores.step,
                  std::clamp<int64_t>(group_.visible(row) - key, 0, seen),
                  {drop_threshold_, drop_threshold_ > 0 ? group_.dropout_key(row) : 0, key},
                  &softmax_[r + i],
                  1.0f};
    }
    soften(panel, rows, padded(seen));
    float* out = out_.data + r * out_.step;
    for (int64_t i = 0; i < rows && !first; ++i)
      if (panel[i].shrink != 1.0f) multiply_row(out + i * out_.step, out_.step, panel[i].shrink);
    if (few_)
      for (int64_t i = 0; i < rows; ++i)
        add_values(scores.data + i * scores.step, seen, out + i * out_.step, !first);
    else
      product(rows, vectors_for(shape_.dv), seen, {scores.data, scores.step, 1}, v_,
              {out, out_.step}, !first);
  }

  /// out = (out +) weights times values, for one row and the values where they lie: what `product`
  /// does, in the same order, without packing.
  void add_values(const float* weights, int64_t count, float* out, bool accumulate) {
    const F32 d;
    constexpr int kVectors = 4;
    for (int64_t c = 0; c < shape_.dv; c += kVectors * lanes()) {
      V32 sum[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = accumulate ? hn::Load(d, out + c + v * lanes()) : hn::Zero(d);
      for (int64_t j = 0; j < count; ++j) {
        const auto weight = hn::Set(d, weights[j]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
          sum[v] = hn::MulAdd(weight, load(d, v_rows_.row[j] + c + v * lanes()), sum[v]);
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, out + c + v * lanes());
    }
  }

  void write(int64_t r) {
    const int64_t row = begin_ + r;
    const int64_t index = group_.row_index(row);
    T* out = tensors_.out + index * shape_.dv;
    const bool sees = group_.visible(row) > 0 && softmax_[r].sum != 0.0f;
    if (!sees) {
      std::fill(out, out + shape_.dv, T(0.0f));
      tensors_.log_sum[index] = -std::numeric_limits<float>::infinity();
      return;
    }
    const Softmax& softmax = softmax_[r];
    unpack_row(out_.data + r * out_.step, shape_.dv, 1.0f / (softmax.sum * (1.0f - shape_.dropout)),
               out);
    tensors_.log_sum[index] = softmax.largest + std::log(softmax.sum);
  }

  const cpu::ForwardTensors<T>& tensors_;
  const cpu::AttentionGroup& group_;
  const cpu::AttentionShape& shape_;
  int64_t begin_, rows_;
  Rows<const float> q_{}, k_transposed_{}, v_{};
  Rows<float> out_;
  bool few_;  // so few rows that values are read where they lie
  bool adjusts_scores_;
  uint32_t drop_threshold_;
  KeyRows<T> v_rows_;
  Softmax softmax_[cpu::kRowBlock];
};

void forward_f32(const cpu::ForwardTensors<float>& tensors, const cpu::AttentionTask& task) {
  ForwardTile<float>(tensors, task).run();
}

void forward_bf16(const cpu::ForwardTensors<bfloat16>& tensors, const cpu::AttentionTask& task) {
  ForwardTile<bfloat16>(tensors, task).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_bf16);

namespace cpu {

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& log_sum) {
  const AttentionShape shape(in);
  std::vector<AttentionTask> tasks;
  // Places among the keys are those of one sequence.
  const bool merge = !shape.causal && !shape.relative_bias;
  const std::vector<AttentionGroup> groups = attention_groups(in.spans, shape, merge);
  // Fewer groups than threads (one sequence whose heads share a key): each is for several threads.
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(groups.size()), 1);
  const int64_t shares = (thread_count() + count - 1) / count;
  for (const AttentionGroup& group : groups) add_row_blocks(group, shares, tasks);
  visit_floating(in.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const ForwardTensors<T> tensors{in.q.data<T>(), in.k.data<T>(), in.v.data<T>(), out.data<T>(),
                                    log_sum.data<float>()};
    for_tasks(tasks, shape, [&](const AttentionTask& task) {
      if constexpr (sizeof(T) == 4)
        HWY_DYNAMIC_DISPATCH(forward_f32)(tensors, task);
      else
        HWY_DYNAMIC_DISPATCH(forward_bf16)(tensors, task);
    });
  });
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
