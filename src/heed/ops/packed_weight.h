#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_int8.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// A weight [out, in] laid out for the products of inference: its storage and the kernels that read
/// it. Copies share the storage.
class PackedWeight {
 public:
  /// Not packed.
  PackedWeight() = default;

  /// For products in the weight's own dtype, f32 or bf16. With `keep_elements` it holds the weight
  /// beside its packed form, for ops that read parts of it.
  static PackedWeight of_floats(const Tensor& weight, bool keep_elements = false);
  /// For integer products with the blocks that the weights are stored in; the elements of the
  /// weights are then no longer read. Several are packed at once: threads meet once for them.
  static std::vector<PackedWeight> of_blocks(std::span<const Tensor> weights);
  /// For integer products with one scale for each row of the weight, which may be of any stored
  /// dtype. Throws Error when fits_int8_rows() is false.
  static PackedWeight of_int8_rows(const Tensor& weight);
  static bool fits_int8_rows(const Shape& shape) { return shape[1] <= kernels::kMaxInt8Cols; }

  bool defined() const { return !std::holds_alternative<std::monostate>(layout_); }
  /// Whether a product quantises its input.
  bool multiplies_integers() const { return has_int8_rows() || has_blocks(); }
  bool has_int8_rows() const { return std::holds_alternative<kernels::PackedInt8>(layout_); }
  bool has_blocks() const { return std::holds_alternative<kernels::PackedBlocks>(layout_); }
  /// Bytes of it that a product with one row reads.
  int64_t bytes() const;
  /// The weight [out, in] where of_floats() kept it; else not defined.
  const Tensor& elements() const { return elements_; }

  /// out = x W^T + bias: x [N, in] f32 or bf16 (of the weight's dtype where it is packed as
  /// floats), bias [out] f32 or absent, out [N, out] f32 or bf16. Sizes are the caller's to check.
  void multiply(const Tensor& x, const Tensor& bias, Tensor& out) const;

  /// Products with one input, bit for bit as one by one. Those of integers are run together: the
  /// input is quantised once for all of a kind, and threads meet once for them, which pays for few
  /// rows.
  class Products {
   public:
    /// x, and what is given to add(), must live until run().
    explicit Products(const Tensor& x) : x_(x) {}
    void add(const PackedWeight& weight, const Tensor& bias, Tensor& out);
    /// Every `out` is written when this returns.
    void run();

   private:
    static constexpr size_t kMaxTogether = 4;

    const Tensor& x_;
    std::array<kernels::BlockProduct, kMaxTogether> blocks_{};
    std::array<kernels::Int8Product, kMaxTogether> int8_rows_{};
    size_t n_blocks_ = 0, n_int8_rows_ = 0;
  };

 private:
  using Layout = std::variant<std::monostate, kernels::PackedMatrix, kernels::PackedBlocks,
                              kernels::PackedInt8>;
  explicit PackedWeight(Layout layout) : layout_(std::move(layout)) {}

  Layout layout_;
  Tensor elements_;
};

}  // namespace heed
