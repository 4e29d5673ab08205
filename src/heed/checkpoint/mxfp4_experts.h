#pragma once

#include <memory>

#include "heed/io/safetensors.h"

namespace heed::checkpoint {

/// The tensors of a gpt-oss model whose experts are in MXFP4 (Open Compute Project, Microscaling
/// Formats 1.0). The files have NAME_blocks [E, rows, cols / 32, 16] and NAME_scales [E, rows,
/// cols / 32] in bytes, for all experts; here each expert is a tensor [rows, cols] of mxfp4, whose
/// name has its number after "experts.". Throws Error, which names the tensors, on shapes that do
/// not fit and on missing scales.
std::shared_ptr<const io::TensorSource> mxfp4_experts(
    std::shared_ptr<const io::TensorSource> tensors);

}  // namespace heed::checkpoint
