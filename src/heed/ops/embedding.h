#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// Where the positions come from: a fixed table (sinusoids), a learned one, or none (neither).
struct PositionTable {
  Tensor fixed;                  // [P, D] f32
  Parameter* learned = nullptr;  // [P, D]
};

struct EmbeddingInput {
  std::span<const int32_t> tokens;     // [N]
  std::span<const int32_t> positions;  // [N], within each sequence
};

/// y[n] = scale * table[tokens[n]] + position(positions[n]), [N, D] in the context's dtype.
/// Throws Error on a token or position outside its table.
Tensor embedding(Context& context, const EmbeddingInput& input, Parameter& table, float scale,
                 const PositionTable& positions);

}  // namespace heed::ops
