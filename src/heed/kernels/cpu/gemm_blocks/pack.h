#pragma once

#include "heed/kernels/cpu/gemm_blocks/kernels.h"

namespace heed::kernels::cpu {

/// Writes panel `panel` of a weight; columns beyond the weight's last row are zeros.
void pack_block_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to);

/// The same for panels that have all their columns, many times as fast.
void pack_whole_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to);

}  // namespace heed::kernels::cpu
