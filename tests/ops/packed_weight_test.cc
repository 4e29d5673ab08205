// The bytes of packed weights, which processes share.
#include "heed/ops/packed_weight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "heed/tensor/allocator.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed {
namespace {

/// Leaves memory with this byte to whoever allocates as much next.
void leave_memory(size_t bytes, int byte) {
  const std::shared_ptr<std::byte> memory = allocate(bytes);
  std::memset(memory.get(), byte, bytes);
}

struct Layout {
  std::string name;
  std::function<PackedWeight(const Tensor&)> pack;
  DType dtype;
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> made{
        {"f32", [](const Tensor& weight) { return PackedWeight::of_floats(weight); }, DType::f32},
        {"bf16", [](const Tensor& weight) { return PackedWeight::of_floats(weight); }, DType::bf16},
        {"int8", PackedWeight::of_int8, DType::q8_0}};
    for (const DType dtype : kernels::kBlocks)
      made.push_back({std::string(name_of(dtype)),
                      [](const Tensor& weight) {
                        return PackedWeight::of_blocks({&weight, 1}).front();
                      },
                      dtype});
    return made;
  }();
  return all;
}

/// Rows that fill no panel, and as many columns as no kernel takes at once, or an odd number of
/// blocks.
Tensor weight_of(DType dtype) {
  const int64_t cols = is_plain(dtype) ? 97 : 3 * block_elements(dtype);
  return kernels::random_stored({21, cols}, dtype, 1);
}

std::vector<std::byte> bytes_of(const PackedWeight& weight) {
  return {weight.layout_bytes().begin(), weight.layout_bytes().end()};
}

TEST(PackedWeight, EqualWeightsHaveEqualBytesWhateverMemoryHeldBefore) {
  for (const Layout& layout : layouts()) {
    const Tensor weight = weight_of(layout.dtype);
    const size_t size = layout.pack(weight).layout_bytes().size();
    ASSERT_GT(size, 0u) << layout.name;
    leave_memory(size, 0x00);
    const std::vector<std::byte> first = bytes_of(layout.pack(weight));
    leave_memory(size, 0xff);
    EXPECT_EQ(first, bytes_of(layout.pack(weight))) << layout.name;
  }
}

TEST(PackedWeight, ReadsItsBytesFromOtherMemory) {
  for (const Layout& layout : layouts()) {
    const Tensor weight = weight_of(layout.dtype);
    PackedWeight packed = layout.pack(weight);
    const DType activations = layout.dtype == DType::bf16 ? DType::bf16 : DType::f32;
    const Tensor x = kernels::normals({3, weight.cols()}, 2, activations);
    Tensor expected = Tensor::empty({3, weight.rows()}), found = expected.clone();
    packed.multiply(x, {}, expected);

    const std::vector<std::byte> bytes = bytes_of(packed);
    std::shared_ptr<std::byte> other = allocate(bytes.size());
    std::ranges::copy(bytes, other.get());
    packed.read_from(other);
    EXPECT_EQ(packed.layout_bytes().data(), other.get()) << layout.name;
    packed.multiply(x, {}, found);
    EXPECT_TRUE(kernels::same_bits(found, expected)) << layout.name;
  }
}

TEST(PackedWeight, WithoutALayoutHasNoBytes) {
  PackedWeight none;
  EXPECT_TRUE(none.layout_bytes().empty());
  expect_error([&] { none.read_from(allocate(64)); }, "not packed");
}

}  // namespace
}  // namespace heed
