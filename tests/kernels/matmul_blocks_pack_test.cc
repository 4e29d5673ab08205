#include "heed/kernels/cpu/gemm_blocks/pack.h"

#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

using Pack = void (*)(const Tensor&, const cpu::PanelLayout&, int64_t, std::byte*);

std::vector<std::byte> panel_by(Pack pack, const Tensor& weight, int64_t panel) {
  const cpu::PanelLayout layout(weight.dtype(), weight.cols());
  std::vector<std::byte> bytes(static_cast<size_t>(layout.bytes));
  pack(weight, layout, panel, bytes.data());
  return bytes;
}

TEST(MatmulBlocksPack, FastPackingGivesTheBytesOfPlainPacking) {
  for (const DType dtype : kBlocks)
    for (const int64_t blocks : {1, 2, 3, 8}) {
      const int64_t cols = blocks * block_elements(dtype);
      const Tensor weight = random_stored({35, cols}, dtype, 5);
      for (const int64_t panel : {0, 1}) {
        const auto plain = panel_by(cpu::pack_block_panel, weight, panel);
        on_every_target([&](const std::string& name) {
          EXPECT_TRUE(panel_by(cpu::pack_whole_panel, weight, panel) == plain)
              << name << " " << name_of(dtype) << " " << cols << " panel " << panel;
        });
      }
    }
}

/// Blocks of random bytes have scales of all kinds: infinite, NaN, subnormal.
TEST(MatmulBlocksPack, FastPackingAgreesForBlocksOfAnyBytes) {
  for (const DType dtype : kBlocks) {
    Tensor weight = Tensor::empty({16, 4096}, dtype);
    const CounterRandom random(7);
    for (int64_t i = 0; i < weight.bytes(); ++i) {
      const uint64_t bits = random.bits(static_cast<uint64_t>(i));
      weight.raw()[i] = static_cast<std::byte>(bits >> 60 == 0 ? 0x7c : bits >> 60 == 1 ? 0 : bits);
    }
    const auto plain = panel_by(cpu::pack_block_panel, weight, 0);
    on_every_target([&](const std::string& name) {
      EXPECT_TRUE(panel_by(cpu::pack_whole_panel, weight, 0) == plain)
          << name << " " << name_of(dtype);
    });
  }
}

}  // namespace
}  // namespace heed::kernels
