#include "heed/ops/packed_weight.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/as_f32.h"
#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

/// Calls one of several lambdas, by its argument's type.
template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace

PackedWeight PackedWeight::of_floats(const Tensor& weight, bool keep_elements) {
  PackedWeight packed(kernels::pack({weight, true}));
  packed.packed_from_ = weight.dtype();
  if (keep_elements) packed.elements_ = weight;
  return packed;
}

std::vector<PackedWeight> PackedWeight::of_blocks(std::span<const Tensor> weights) {
  std::vector<PackedWeight> packed;
  packed.reserve(weights.size());
  for (kernels::PackedBlocks& blocks : kernels::pack_blocks_grouped(weights))
    packed.push_back(PackedWeight(std::move(blocks)));
  return packed;
}

PackedWeight PackedWeight::of_int8(const Tensor& weight) {
  return PackedWeight(kernels::pack_int8(weight));
}

PackedWeight PackedWeight::pack_alike(const Tensor& rows) const {
  return std::visit(Overloaded{[](std::monostate) { return PackedWeight(); },
                               [&](const kernels::PackedMatrix&) {
                                 if (rows.dtype() == packed_from_) return of_floats(rows);
                                 Tensor converted = Tensor::empty(rows.shape(), packed_from_);
                                 kernels::convert(kernels::as_f32(rows), converted);
                                 return of_floats(converted);
                               },
                               [&](const kernels::PackedBlocks&) {
                                 return of_blocks({&rows, 1}).front();
                               },
                               [&](const kernels::PackedInt8&) { return of_int8(rows); }},
                    layout_);
}

int64_t PackedWeight::bytes() const {
  return std::visit(
      Overloaded{[](std::monostate) -> int64_t { return 0; },
                 [](const kernels::PackedMatrix& m) { return m.panels.bytes(); },
                 [](const kernels::PackedBlocks& b) { return bytes_of(b.dtype, b.rows * b.cols); },
                 [](const kernels::PackedInt8& m) {
                   return m.rows * (m.cols + static_cast<int64_t>(sizeof(float)));
                 }},
      layout_);
}

std::span<const std::byte> PackedWeight::layout_bytes() const {
  const auto bytes = [](const auto& packed) {
    return std::span<const std::byte>(packed.panels.get(), static_cast<size_t>(packed.panel_bytes));
  };
  return std::visit(Overloaded{[](std::monostate) { return std::span<const std::byte>(); },
                               [](const kernels::PackedMatrix& m) {
                                 return std::span(m.panels.raw(),
                                                  static_cast<size_t>(m.panels.bytes()));
                               },
                               [&](const kernels::PackedBlocks& b) { return bytes(b); },
                               [&](const kernels::PackedInt8& m) { return bytes(m); }},
                    layout_);
}

void PackedWeight::read_from(std::shared_ptr<std::byte> memory) {
  std::visit(Overloaded{[](std::monostate) { fail("memory for a weight that is not packed"); },
                        [&](kernels::PackedMatrix& m) {
                          m.panels =
                              Tensor::view(m.panels.shape(), m.panels.dtype(), std::move(memory));
                        },
                        [&](kernels::PackedBlocks& b) { b.panels = std::move(memory); },
                        [&](kernels::PackedInt8& m) { m.panels = std::move(memory); }},
             layout_);
}

void PackedWeight::multiply(const Tensor& x, const Tensor& bias, Tensor& out) const {
  std::visit(Overloaded{[](std::monostate) { fail("a product with a weight that is not packed"); },
                        [&](const kernels::PackedMatrix& weight) {
                          kernels::matmul_packed(x, weight, {.bias = bias}, out);
                        },
                        [&](const kernels::PackedBlocks& weight) {
                          kernels::matmul_blocks(x, weight, bias, out);
                        },
                        [&](const kernels::PackedInt8& weight) {
                          kernels::matmul_int8(x, weight, bias, out);
                        }},
             layout_);
}

void PackedWeight::Products::add(const PackedWeight& weight, const Tensor& bias, Tensor& out) {
  if (const auto* rows = std::get_if<kernels::PackedInt8>(&weight.layout_)) {
    int8_[n_int8_++] = {rows, &bias, &out};
  } else if (const auto* blocks = std::get_if<kernels::PackedBlocks>(&weight.layout_)) {
    blocks_[n_blocks_++] = {blocks, &bias, &out};
  } else {
    weight.multiply(x_, bias, out);
  }
  if (n_int8_ == kMaxProducts || n_blocks_ == kMaxProducts) run();
}

void PackedWeight::Products::run() {
  kernels::matmul_int8_grouped(x_, {int8_.data(), n_int8_});
  kernels::matmul_blocks_grouped(x_, {blocks_.data(), n_blocks_});
  n_int8_ = n_blocks_ = 0;
}

}  // namespace heed
