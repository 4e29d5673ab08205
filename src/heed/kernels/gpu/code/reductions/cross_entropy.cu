#include "heed/kernels/gpu/code/reductions/cross_entropy.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Columns that a thread has side by side.
constexpr int kGroup = kVector<float>;

/// A row after the soft cap.
struct Row {
  const float* logits;
  int columns;
  float cap;

  HEED_DEVICE float capped(float x) const { return cap > 0.0f ? cap * tanhf(x / cap) : x; }

  /// The derivative of the cap, from its result.
  HEED_DEVICE float derivative(float result) const {
    const float t = cap > 0.0f ? result / cap : 0.0f;
    return fmaf(-t, t, 1.0f);
  }

  /// Calls with(first column, how many exist, logits) for the groups of this thread. Logits beyond
  /// the end are `absent`.
  template <typename With>
  HEED_DEVICE void for_groups(float absent, const With& with) const {
    const int step = static_cast<int>(block_threads()) * kGroup;
    for (int first = static_cast<int>(thread_index()) * kGroup; first < columns; first += step) {
      float values[kGroup];
      load_vector(logits + first, columns - first, absent, values);
      HEED_UNROLL
      for (int i = 0; i < kGroup; ++i)
        if (first + i < columns) values[i] = capped(values[i]);
      with(first, columns - first, values);
    }
  }
};

/// losses[0] = the smoothed loss, losses[1] = -log p(target).
HEED_DEVICE void put_losses(float largest, float exps, float target_logit, float logits,
                            const CrossEntropyArguments& in, float* losses) {
  const double logsumexp = static_cast<double>(largest) + log(static_cast<double>(exps));
  const double loss = logsumexp - static_cast<double>(target_logit);
  // Without smoothing, logits of minus infinity must not make the loss infinite.
  const double s = static_cast<double>(in.label_smoothing);
  const double uniform = s > 0.0 ? logsumexp - static_cast<double>(logits) / in.columns : 0.0;
  losses[0] = static_cast<float>((1.0 - s) * loss + s * uniform);
  losses[1] = static_cast<float>(loss);
}

template <typename T>
HEED_DEVICE void compute_cross_entropy(const CrossEntropyArguments& in) {
  float* const shared = shared_memory<float>();
  const int64_t n = block_x();
  const Row row{in.logits + n * in.columns, in.columns, in.soft_cap};
  const int target = in.targets[n];

  float largest = -INFINITY, logits = 0.0f;
  row.for_groups(-INFINITY, [&](int, int, const float(&values)[kGroup]) {
    for (const float value : values) largest = Max::apply(value, largest);
  });
  largest = reduce_block<Max>(largest, shared);
  float exps = 0.0f;
  row.for_groups(-INFINITY, [&](int, int exist, const float(&values)[kGroup]) {
    HEED_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      if (i >= exist) break;
      exps += expf(values[i] - largest);
      logits += values[i];
    }
  });
  // All threads have read what they need of the row before one of them writes its gradient.
  const float target_logit = row.capped(row.logits[target]);
  exps = reduce_block<Sum>(exps, shared);
  logits = reduce_block<Sum>(logits, shared);
  if (thread_index() == 0) put_losses(largest, exps, target_logit, logits, in, in.losses + 2 * n);
  if (!in.d_logits) return;

  T* const d_logits = static_cast<T*>(in.d_logits) + n * in.columns;
  const float inverse = 1.0f / exps;
  const float uniform = in.label_smoothing / static_cast<float>(in.columns);
  row.for_groups(0.0f, [&](int first, int exist, const float(&values)[kGroup]) {
    float d[kGroup];
    HEED_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      const float p = expf(values[i] - largest) * inverse;
      const float wanted = first + i == target ? uniform + (1.0f - in.label_smoothing) : uniform;
      d[i] = (p - wanted) * in.gradient_scale * row.derivative(values[i]);
    }
    store_vector(d, exist, d_logits + first);
  });
}

}  // namespace

HEED_GPU_KERNEL(cross_entropy_f32, CrossEntropyArguments, in) { compute_cross_entropy<float>(in); }
HEED_GPU_KERNEL(cross_entropy_bf16, CrossEntropyArguments, in) { compute_cross_entropy<Bf16>(in); }

}  // namespace heed::kernels::gpu
