#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "heed/kernels/dropout.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed {

/// A low-rank update of a weight W [out, in] (LoRA, Hu et al. 2021, 4.1): W + scale * B A.
struct LowRankUpdate {
  const Parameter* a;  // [r, in] f32
  const Parameter* b;  // [out, r] f32
  float scale;
  // A^T and B^T for passes without a tape, which do not change them; undefined: not packed.
  kernels::PackedMatrix packed_a = {}, packed_b = {};
};

/// Updates of weights, which are identified by their address. Linear maps add them to their
/// products with the weights (ops/linear.h); the weights themselves do not change.
struct Adapter {
  std::unordered_map<const Parameter*, LowRankUpdate> updates;
  float dropout = 0.0f;  // of the input of an update, in training
};

/// All rows of a pass.
inline AdaptedRows all_rows(std::span<const ScaledAdapter> adapters) {
  return {0, std::numeric_limits<int64_t>::max(), adapters};
}

/// While it lives, the context's adapters apply to some of the pass's rows (those of an expert),
/// which ops multiply as if they were all.
class SelectedRows {
 public:
  /// `rows` ascend.
  SelectedRows(Context& context, std::span<const int32_t> rows);
  SelectedRows(const SelectedRows&) = delete;
  SelectedRows& operator=(const SelectedRows&) = delete;
  ~SelectedRows() { context_.adapters = all_; }

 private:
  Context& context_;
  std::span<const AdaptedRows> all_;
  std::vector<AdaptedRows> selected_;
};

namespace ops {

/// What the context's adapters add to the product of x [N, in] with a weight.
class LowRankProducts {
 public:
  /// y [N, out] += scale * (dropout(x) A^T) B^T, for the rows and updates of each adapter. A row's
  /// result depends on no other row.
  LowRankProducts(Context& context, const Tensor& x, const Parameter& weight, Tensor& y);

  /// dh = scale dY B, dB += scale dY^T h, dA += dh^T dropout(x), dX += dropout'(dh A), where h is
  /// dropout(x) A^T; a frozen matrix gets no gradient.
  void backward(Tape& tape, const Tensor& dy, Tensor& dx) const;

 private:
  struct Part {
    int64_t begin, end;  // rows
    LowRankUpdate update;
    Tensor h;  // [rows, r], times the scale
    kernels::Dropout mask;
  };
  void add(Context& context, const Tensor& x, Part part, Tensor& y);

  SavedTensor x_;
  std::vector<Part> parts_;  // for the backward step
};

}  // namespace ops
}  // namespace heed
