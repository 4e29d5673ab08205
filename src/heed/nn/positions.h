#pragma once

#include <cstdint>
#include <vector>

#include "heed/kernels/rotary.h"
#include "heed/tensor/tensor.h"

namespace heed::nn {

/// PE(p, 2i) = sin(p / 10000^(2i / D)), PE(p, 2i + 1) = cos(the same) (Vaswani et al. 2017, 3.5):
/// [positions, d_model] f32. Sine and cosine of one frequency sit side by side (2i, 2i + 1), as the
/// paper writes it, or all sines in the first half and all cosines in the second, as Marian's
/// checkpoints have it; the two differ by a permutation of d_model that training cannot see.
Tensor sinusoids(int64_t positions, int64_t d_model, kernels::PairLayout layout);

/// 0, 1, 2, ... within each of the sequences `offsets` [B+1]: [N].
std::vector<int32_t> positions_within(const std::vector<int32_t>& offsets);

}  // namespace heed::nn
