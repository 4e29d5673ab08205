#include "heed/kernels/gpu/code/cross_entropy.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/packs.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Columns that a thread has side by side: sums have the same order whether a row is aligned for
/// packs or not.
constexpr int kGroup = 4;

/// A group of the logits of a row, of which some may be beyond its end.
struct Group {
  int first, count;
  float logits[kGroup];
};

/// A row after the soft cap.
class Row {
 public:
  HEED_DEVICE Row(const float* logits, int columns, float cap)
      : logits_(logits),
        columns_(columns),
        cap_(cap),
        aligned_(is_aligned<Pack<float, kGroup>>(logits)) {}

  HEED_DEVICE float capped(float x) const { return cap_ > 0.0f ? cap_ * tanhf(x / cap_) : x; }

  /// The derivative of the cap, from its result.
  HEED_DEVICE float derivative(float capped) const {
    const float t = cap_ > 0.0f ? capped / cap_ : 0.0f;
    return fmaf(-t, t, 1.0f);
  }

  HEED_DEVICE float at(int column) const { return capped(logits_[column]); }

  /// Calls with(group) for the groups of this thread.
  template <typename With>
  HEED_DEVICE void for_groups(const With& with) const {
    const int step = static_cast<int>(block_threads()) * kGroup;
    for (int i = static_cast<int>(thread_index()) * kGroup; i < columns_; i += step) {
      Group group{i, columns_ - i < kGroup ? columns_ - i : kGroup, {}};
      if (aligned_ && group.count == kGroup) {
        const auto pack = *reinterpret_cast<const Pack<float, kGroup>*>(logits_ + i);
        for (int k = 0; k < kGroup; ++k) group.logits[k] = capped(pack.at[k]);
      } else {
        for (int k = 0; k < kGroup; ++k)
          if (k < group.count) group.logits[k] = at(i + k);
      }
      with(group);
    }
  }

 private:
  const float* logits_;
  int columns_;
  float cap_;
  bool aligned_;
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
  const Row row(in.logits + n * in.columns, in.columns, in.soft_cap);
  const int target = in.targets[n];

  float largest = -INFINITY, logits = 0.0f;
  row.for_groups([&](const Group& group) {
    for (int k = 0; k < kGroup; ++k) {
      if (k >= group.count) break;
      largest = Max::apply(group.logits[k], largest);
      logits += group.logits[k];
    }
  });
  largest = reduce_block<Max>(largest, shared);
  float exps = 0.0f;
  row.for_groups([&](const Group& group) {
    for (int k = 0; k < kGroup; ++k)
      if (k < group.count) exps += expf(group.logits[k] - largest);
  });
  // All threads have read what they need of the row before one of them writes its gradient.
  const float target_logit = row.at(target);
  exps = reduce_block<Sum>(exps, shared);
  logits = reduce_block<Sum>(logits, shared);
  if (thread_index() == 0)
    put_losses(largest, exps, target_logit, logits, in, in.losses + 2 * n);
  if (!in.d_logits) return;

  T* const d_logits = static_cast<T*>(in.d_logits) + n * in.columns;
  const float inverse = 1.0f / exps;
  const float uniform = in.label_smoothing / static_cast<float>(in.columns);
  const bool aligned = is_aligned<Pack<T, kGroup>>(d_logits);
  row.for_groups([&](const Group& group) {
    Pack<T, kGroup> d{};
    for (int k = 0; k < kGroup; ++k) {
      const float p = expf(group.logits[k] - largest) * inverse;
      const float wanted =
          group.first + k == target ? uniform + (1.0f - in.label_smoothing) : uniform;
      d.at[k] = narrow<T>((p - wanted) * in.gradient_scale * row.derivative(group.logits[k]));
    }
    if (aligned && group.count == kGroup) {
      *reinterpret_cast<Pack<T, kGroup>*>(d_logits + group.first) = d;
      return;
    }
    for (int k = 0; k < kGroup; ++k)
      if (k < group.count) d_logits[group.first + k] = d.at[k];
  });
}

}  // namespace

HEED_GPU_KERNEL(cross_entropy_f32, CrossEntropyArguments, in) { compute_cross_entropy<float>(in); }
HEED_GPU_KERNEL(cross_entropy_bf16, CrossEntropyArguments, in) { compute_cross_entropy<Bf16>(in); }

}  // namespace heed::kernels::gpu
