#include "heed/kernels/matmul_blocks.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/kernels/reference/quantised.h"

namespace heed::kernels::reference {
namespace {

template <typename T>
std::vector<Quantised> quantised_row(const T* row, int64_t cols) {
  std::vector<Quantised> blocks;
  for (int64_t k = 0; k < cols; k += kProductBlock)
    blocks.push_back(quantised({row + k, row + k + kProductBlock}));
  return blocks;
}

/// Infinity counts as NaN.
float finite(float number) {
  return std::isinf(number) ? std::numeric_limits<float>::quiet_NaN() : number;
}

/// The product of a's integers and the 32 elements of a weight's block from `begin` on.
template <typename Block>
float part_of(const Block& block, int64_t begin, const std::vector<int>& a) {
  constexpr BlockTraits kTraits = Block::kTraits;
  int dot = 0;
  for (int64_t i = 0; i < kProductBlock; ++i) {
    int weight = quant_of(block, begin + i);
    if constexpr (kTraits.has_sub_scales()) weight *= block.sub_scale(begin + i);
    dot += weight * a[static_cast<size_t>(i)];
  }
  float part = std::fma(finite(scale_of(block)), static_cast<float>(dot), 0.0f);
  if constexpr (kTraits.has_minimum) {
    constexpr int64_t kShare = has_halves(kTraits) ? kProductBlock / 2 : kProductBlock;
    for (int64_t i = 0; i < kProductBlock; i += kShare) {
      const int sum = std::accumulate(a.begin() + i, a.begin() + i + kShare, 0);
      part = std::fma(finite(minimum_of(block, begin + i)), static_cast<float>(sum), part);
    }
  }
  return part;
}

template <typename Block>
float product(const std::vector<Quantised>& row, const Block* weight) {
  float sum = 0.0f;
  int64_t k = 0;
  for (const Quantised& a : row) {
    sum = std::fma(a.scale, part_of(weight[k / Block::kElements], k % Block::kElements, a.quants),
                   sum);
    k += kProductBlock;
  }
  return sum;
}

template <typename A, typename Block, typename C>
void multiply(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  const int64_t n = weight.rows();
  for (int64_t row = 0; row < a.rows(); ++row) {
    const auto blocks = quantised_row(a.data<A>() + row * a.cols(), a.cols());
    for (int64_t col = 0; col < n; ++col) {
      const float sum =
          product(blocks, reinterpret_cast<const Block*>(weight.raw() + col * weight.row_bytes()));
      c.data<C>()[row * n + col] = C(bias.defined() ? sum + bias.data<float>()[col] : sum);
    }
  }
}

PackedBlocks packed_blocks(const Tensor& weight) {
  require(multiplies_blocks(weight.dtype()), "pack_blocks: the weight is {}, expected blocks",
          name_of(weight.dtype()));
  return {.dtype = weight.dtype(), .rows = weight.rows(), .cols = weight.cols(), .weight = weight};
}

void multiply(const Tensor& a, const PackedBlocks& weight, const Tensor& bias, Tensor& c) {
  require(weight.weight.defined(), "matmul_blocks: the weight was packed by the cpu backend");
  visit_floating(a.dtype(), [&](auto in) {
    visit_block(weight.dtype, [&](auto block) {
      visit_floating(c.dtype(), [&](auto out) {
        multiply<decltype(in), decltype(block), decltype(out)>(a, weight.weight, bias, c);
      });
    });
  });
}

}  // namespace

std::vector<PackedBlocks> pack_blocks_grouped(std::span<const Tensor> weights) {
  std::vector<PackedBlocks> packed;
  for (const Tensor& weight : weights) packed.push_back(packed_blocks(weight));
  return packed;
}

void matmul_blocks_grouped(const Tensor& a, std::span<const BlockProduct> products) {
  for (const BlockProduct& product : products)
    multiply(a, *product.weight, *product.bias, *product.c);
}

}  // namespace heed::kernels::reference
