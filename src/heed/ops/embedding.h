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
};

struct EmbeddingInput {
  std::span<const int32_t> tokens;     // [N]
  std::span<const int32_t> positions;  // [N], within each sequence
};

/// y[n] = scale * table[tokens[n]] + position(positions[n]), [N, D] in the context's dtype.
/// The tables may be of any stored dtype: only the rows that are read are converted. Throws Error
/// on a token or position outside its table, and with a tape on a trained table that is not f32.
Tensor embedding(Context& context, const EmbeddingInput& input, const Parameter& table, float scale,
                 const PositionTable& positions);

}  // namespace heed::ops
