// Packs panels of blocks: 16 bytes of each of four columns become quads, four bytes of each column,
// by transposing a 4 x 4 matrix of 32-bit numbers.
#include "heed/kernels/cpu/gemm_blocks/pack.h"

#include <hwy/cache_control.h>

#include <array>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm_blocks/pack.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/gemm_blocks/put_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Block>
void pack(const WeightRows& rows, const PanelLayout& layout, std::byte* to) {
  constexpr auto kBlockBytes = static_cast<int64_t>(sizeof(Block));
  const int64_t blocks = rows.row_bytes / kBlockBytes;
  for (int64_t at = 0; at < blocks; ++at)
    for (int64_t col = 0; col < kPanelCols; col += kLanes) {
      // As much of the next panel's rows, which follow these, as is read here.
      const int64_t ahead = kPanelCols * rows.row_bytes + (at * kPanelCols + col) * kBlockBytes;
      for (int64_t line = 0; line < kLanes * kBlockBytes; line += 64)
        hwy::Prefetch(rows.first + ahead + line);
      const int64_t begin = col * rows.row_bytes + at * kBlockBytes;
      put_block(static_cast<const Block*>(nullptr), WeightRows{rows.first + begin, rows.row_bytes},
                at, Columns{layout, to, col});
    }
}

}  // namespace

void pack_whole_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                      std::byte* to) {
  const auto* first = reinterpret_cast<const uint8_t*>(weight.raw());
  const WeightRows rows{first + panel * kPanelCols * weight.row_bytes(), weight.row_bytes()};
  visit_block(weight.dtype(), [&](auto block) { pack<decltype(block)>(rows, layout, to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

using cpu::PanelLayout;

HWY_EXPORT(pack_whole_panel);
void cpu::pack_whole_panel(const Tensor& weight, const PanelLayout& layout, int64_t panel,
                           std::byte* to) {
  HWY_DYNAMIC_DISPATCH(pack_whole_panel)(weight, layout, panel, to);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
