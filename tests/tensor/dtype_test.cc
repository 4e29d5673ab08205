#include "heed/tensor/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace heed {
namespace {

TEST(BlockTraits, NamesAndGgmlNumbersAreUnique) {
  std::set<std::string_view> names;
  std::set<uint32_t> numbers;
  for (const BlockTraits& type : kStoredTypes) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_TRUE(numbers.insert(type.ggml_type).second) << type.name;
  }
}

TEST(BlockTraits, LooksUpATypeByItsName) {
  for (const BlockTraits& type : kStoredTypes) EXPECT_EQ(dtype_named(type.name), type.dtype);
  EXPECT_EQ(dtype_named("q9_9"), std::nullopt);
}

/// A block of varied bytes.
template <typename Block>
Block some_block() {
  Block block;
  auto* bytes = reinterpret_cast<uint8_t*>(&block);
  for (size_t i = 0; i < sizeof(Block); ++i) bytes[i] = static_cast<uint8_t>(i * 151 + 7);
  return block;
}

TEST(BlockTraits, QuantsStayWithinTheirBits) {
  for (const BlockTraits& type : kStoredTypes) {
    if (type.is_plain()) continue;
    visit_block(type.dtype, [&](auto zero) {
      using Block = decltype(zero);
      const Block block = some_block<Block>();
      std::set<int> found;
      for (int64_t i = 0; i < Block::kElements; ++i) found.insert(quant_of(block, i));
      EXPECT_GE(*found.begin(), type.lowest) << type.name;
      const int codes = type.has_codebook() ? 256 : 1 << type.bits;
      EXPECT_LT(*found.rbegin(), type.lowest + codes) << type.name;
      EXPECT_GE(found.size(), std::min<size_t>(9, size_t{1} << type.bits)) << type.name;
    });
  }
}

TEST(BlockTraits, ABlockReturnsTheQuantsThatWereSet) {
  for (const BlockTraits& type : kStoredTypes) {
    if (type.is_plain()) continue;
    visit_block(type.dtype, [&](auto zero) {
      if constexpr (requires(std::array<int8_t, 32> quants) { zero.set_quants(quants); }) {
        std::array<int8_t, 32> quants;
        for (size_t i = 0; i < quants.size(); ++i)
          quants[i] =
              static_cast<int8_t>(type.lowest + static_cast<int>(i * 7 % (1u << type.bits)));
        zero.set_quants(quants);
        for (int64_t i = 0; i < 32; ++i)
          EXPECT_EQ(quant_of(zero, i), quants[static_cast<size_t>(i)]) << type.name << " " << i;
      }
      if constexpr (requires(std::array<uint8_t, 256> codes) { zero.set_codes(codes); }) {
        std::array<uint8_t, 256> codes;
        for (size_t i = 0; i < codes.size(); ++i)
          codes[i] = static_cast<uint8_t>(i * 7 / 3 % (1u << type.bits));
        zero.set_codes(codes);
        for (int64_t i = 0; i < 256; ++i)
          EXPECT_EQ(zero.code(i), codes[static_cast<size_t>(i)]) << type.name << " " << i;
      }
    });
  }
}

TEST(BlockTraits, SubScalesOfSixBitsComeBack) {
  SixBitScales scales;
  for (size_t i = 0; i < 8; ++i)
    scales.set(i, static_cast<int>(i * 23 % 64), static_cast<int>(i * 41 % 64));
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(scales.scale(i), static_cast<int>(i * 23 % 64)) << i;
    EXPECT_EQ(scales.minimum(i), static_cast<int>(i * 41 % 64)) << i;
  }
}

}  // namespace
}  // namespace heed
