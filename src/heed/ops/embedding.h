#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// The positions that are added: a fixed table (sinusoids), a learned one, or none.
struct PositionTable {
  Tensor fixed;                        // [P, D] f32
  const Parameter* learned = nullptr;  // [P, D]
  int32_t padding = -1;                // the row of padding tokens, which gets no gradient
};

struct EmbeddingInput {
  std::span<const int32_t> tokens;     // [N]
  std::span<const int32_t> positions;  // [N], within each sequence
  /// The token whose row gets no gradient from here, as padding_idx of PyTorch's nn.Embedding; -1:
  /// none.
  int32_t padding = -1;
};

/// y[n] = scale * table[tokens[n]] + position(positions[n]), [N, D] in the context's dtype.
/// The tables may be of any stored dtype: only the rows that are read are converted. Throws Error
/// on a token or position outside its table, and with a tape on a trained table that is not f32.
Tensor embedding(Context& context, const EmbeddingInput& input, const Parameter& table, float scale,
                 const PositionTable& positions);

}  // namespace heed::ops
