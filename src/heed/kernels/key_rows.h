#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels {

/// Writes the keys (or values) of a pass's new tokens, x [Nq, W] in f32 or bf16, to their rows of
/// cached [Nk, W]: those of the last keys of each sequence of `spans`, kv_rows[j] for key j, or j
/// without kv_rows. They are converted to the dtype of `cached`: f32, bf16 or q8_0, as
/// kernels::quantize() writes it. Every row exists (the caller checks).
///
/// A value that q8_0 cannot hold throws Error. On a GPU its block becomes NaN, and this thread's
/// next copy to the host throws.
HEED_KERNEL(write_key_rows, void(const Tensor& x, const AttentionMetadata& spans, Tensor& cached));

/// Consecutive new tokens whose rows are consecutive, too.
struct KeyRun {
  int64_t fresh, row, count;
};

/// Calls visit(KeyRun) for the new tokens of each sequence in order. Runs are as long as possible.
template <typename Visit>
void visit_key_runs(const AttentionMetadata& spans, Visit&& visit) {
  KeyRun run{0, 0, 0};
  for (size_t b = 0; b < spans.kv_end.size(); ++b) {
    const int32_t count = spans.q_offsets[b + 1] - spans.q_offsets[b];
    for (int32_t key = spans.kv_end[b] - count; key < spans.kv_end[b]; ++key) {
      const int64_t row = spans.kv_rows.empty() ? key : spans.kv_rows[static_cast<size_t>(key)];
      if (row == run.row + run.count) {
        ++run.count;
        continue;
      }
      if (run.count > 0) visit(run);
      run = {run.fresh + run.count, row, 1};
    }
  }
  if (run.count > 0) visit(run);
}

}  // namespace heed::kernels
