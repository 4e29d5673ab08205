#include "heed/ops/alignment_loss.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "heed/base/parallel.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

/// One head of some rows, in f32.
class HeadRows {
 public:
  HeadRows(const Tensor& tensor, int64_t heads, int64_t head)
      : width_(tensor.cols() / heads), values_(static_cast<size_t>(tensor.rows() * width_)) {
    const int64_t cols = tensor.cols();
    for (int64_t row = 0; row < tensor.rows(); ++row)
      for (int64_t i = 0; i < width_; ++i) {
        const int64_t index = row * cols + head * width_ + i;
        values_[static_cast<size_t>(row * width_ + i)] =
            tensor.dtype() == DType::f32 ? tensor.data<float>()[index]
                                         : static_cast<float>(tensor.data<bfloat16>()[index]);
      }
  }

  int64_t width() const { return width_; }
  std::span<const float> operator[](int64_t row) const {
    return std::span(values_).subspan(static_cast<size_t>(row * width_),
                                      static_cast<size_t>(width_));
  }

 private:
  int64_t width_;
  std::vector<float> values_;
};

void check_alignment(const kernels::AttentionForward& in, const AlignedKeys& aligned,
                     int64_t head) {
  const kernels::AttentionOptions& o = in.options;
  require(!o.causal && o.window == 0 && o.soft_cap == 0 && !in.relative_bias.defined() &&
              !in.sinks.defined() && in.spans.kv_rows.empty(),
          "alignment_loss: expected cross-attention without mask, window, cap, bias and sinks");
  require(head >= 0 && head < o.n_heads, "alignment_loss: head {} is not one of {}", head,
          o.n_heads);
  require(!in.q.device(), "alignment_loss: expected tensors on the host");
  require(std::ssize(aligned.offsets) == in.q.rows() + 1,
          "alignment_loss: there are alignments of {} queries, expected {}",
          std::ssize(aligned.offsets) - 1, in.q.rows());
}

/// The scores' gradients of a query: weights minus alignment. Returns the loss.
double query_loss(std::span<float> scores, std::span<const int32_t> keys, int32_t first_key) {
  const float most = std::ranges::max(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score - most));
  const double log_sum = static_cast<double>(most) + std::log(sum);
  const double share = 1.0 / static_cast<double>(keys.size());
  double loss = 0;
  for (const int32_t key : keys) {
    require(key >= first_key && key - first_key < std::ssize(scores),
            "alignment_loss: key {} is not one of the query's, {} to {}", key, first_key,
            first_key + std::ssize(scores) - 1);
    loss += share * (log_sum - static_cast<double>(scores[static_cast<size_t>(key - first_key)]));
  }
  for (float& score : scores)
    score = static_cast<float>(std::exp(static_cast<double>(score) - log_sum));
  for (const int32_t key : keys)
    scores[static_cast<size_t>(key - first_key)] -= static_cast<float>(share);
  return loss;
}

/// Adds to one head's columns of a gradient.
void add_to_head(std::span<const float> values, int64_t row, int64_t head, Tensor& gradient) {
  const int64_t begin = row * gradient.cols() + head * std::ssize(values);
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    const float value = values[static_cast<size_t>(i)];
    if (gradient.dtype() == DType::f32)
      gradient.data<float>()[begin + i] += value;
    else
      gradient.data<bfloat16>()[begin + i] =
          bfloat16(static_cast<float>(gradient.data<bfloat16>()[begin + i]) + value);
  }
}

/// The gradients of the scores of aligned queries, for the backward pass.
struct ScoreGradients {
  std::vector<std::vector<float>> of_query;  // [Nq], over the keys of its sequence; empty: zeros
  std::vector<double> losses;                // [B]
};

ScoreGradients score_gradients(const kernels::AttentionForward& in, const AlignedKeys& aligned,
                               const HeadRows& q, const HeadRows& k) {
  const kernels::AttentionMetadata& spans = in.spans;
  ScoreGradients result{std::vector<std::vector<float>>(static_cast<size_t>(in.q.rows())),
                        std::vector<double>(static_cast<size_t>(spans.sequences()))};
  parallel_for(spans.sequences(), 1, [&](int64_t begin, int64_t end) {
    for (auto b = static_cast<size_t>(begin); b < static_cast<size_t>(end); ++b)
      for (int32_t row = spans.q_offsets[b]; row < spans.q_offsets[b + 1]; ++row) {
        const auto n = static_cast<size_t>(row);
        const auto first = static_cast<size_t>(aligned.offsets[n]);
        const auto count = static_cast<size_t>(aligned.offsets[n + 1]) - first;
        if (count == 0) continue;
        std::vector<float>& scores = result.of_query[n];
        for (int32_t key = spans.kv_begin[b]; key < spans.kv_end[b]; ++key) {
          float dot = 0;
          for (size_t i = 0; i < q[row].size(); ++i) dot += q[row][i] * k[key][i];
          scores.push_back(dot * in.options.scale);
        }
        result.losses[b] +=
            query_loss(scores, std::span(aligned.keys).subspan(first, count), spans.kv_begin[b]);
      }
  });
  return result;
}

}  // namespace

double alignment_loss(Context& context, const kernels::AttentionForward& in,
                      const AlignedKeys& aligned, int64_t head, float gradient_scale) {
  check_alignment(in, aligned, head);
  const int64_t kv_head = head / (in.options.n_heads / in.options.n_kv_heads);
  const auto q = std::make_shared<const HeadRows>(in.q, in.options.n_heads, head);
  const auto k = std::make_shared<const HeadRows>(in.k, in.options.n_kv_heads, kv_head);
  auto gradients = std::make_shared<const ScoreGradients>(score_gradients(in, aligned, *q, *k));
  double loss = 0;
  for (const double of_sequence : gradients->losses) loss += of_sequence;
  if (!context.tape) return loss;

  Tape& tape = *context.tape;
  tape.record([&tape, q, k, gradients, head, kv_head, spans = in.spans, q_key = TensorKey(in.q),
               k_key = TensorKey(in.k), scale = in.options.scale * gradient_scale] {
    auto [dq, q_accumulate] = tape.slot(q_key);
    if (!q_accumulate) dq.fill_zero();
    auto [dk, k_accumulate] = tape.slot(k_key);
    if (!k_accumulate) dk.fill_zero();
    parallel_for(spans.sequences(), 1, [&, &d_q = dq, &d_k = dk](int64_t begin, int64_t end) {
      std::vector<float> sum(static_cast<size_t>(q->width()));
      for (auto b = static_cast<size_t>(begin); b < static_cast<size_t>(end); ++b) {
        const int32_t first = spans.kv_begin[b], last = spans.kv_end[b];
        for (int32_t row = spans.q_offsets[b]; row < spans.q_offsets[b + 1]; ++row) {
          const std::vector<float>& own = gradients->of_query[static_cast<size_t>(row)];
          if (own.empty()) continue;
          std::ranges::fill(sum, 0.0f);
          for (int32_t key = first; key < last; ++key)
            for (size_t i = 0; i < sum.size(); ++i)
              sum[i] += scale * own[static_cast<size_t>(key - first)] * (*k)[key][i];
          add_to_head(sum, row, head, d_q);
        }
        for (int32_t key = first; key < last; ++key) {
          std::ranges::fill(sum, 0.0f);
          for (int32_t row = spans.q_offsets[b]; row < spans.q_offsets[b + 1]; ++row) {
            const std::vector<float>& own = gradients->of_query[static_cast<size_t>(row)];
            if (own.empty()) continue;
            for (size_t i = 0; i < sum.size(); ++i)
              sum[i] += scale * own[static_cast<size_t>(key - first)] * (*q)[row][i];
          }
          add_to_head(sum, key, kv_head, d_k);
        }
      }
    });
  });
  return loss;
}

}  // namespace heed::ops
