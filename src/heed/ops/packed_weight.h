#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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
  /// For integer products with the blocks that the weights are stored in; the unpacked weights are
  /// no longer read. All are packed in one parallel region.
  static std::vector<PackedWeight> of_blocks(std::span<const Tensor> weights);
  /// For int8 with per-channel scales. The weight may be of any stored dtype. Throws Error when
  /// fits_int8() is false.
  static PackedWeight of_int8(const Tensor& weight);
  static bool fits_int8(const Shape& shape) { return shape[1] <= kernels::kMaxInt8Cols; }

  /// Other rows [n, in] of the parameter's stored dtype in the same layout, so that a row of either
  /// gives the same bits. Not packed if this is not.
  PackedWeight pack_alike(const Tensor& rows) const;

  bool defined() const { return !std::holds_alternative<std::monostate>(layout_); }
  /// Whether a product quantises its input.
  bool multiplies_integers() const { return has_int8() || has_blocks(); }
  bool has_int8() const { return std::holds_alternative<kernels::PackedInt8>(layout_); }
  bool has_blocks() const { return std::holds_alternative<kernels::PackedBlocks>(layout_); }
  /// Bytes that a product with one row reads.
  int64_t bytes() const;
  /// All bytes of the layout: equal weights of one type, packed on one machine, have equal bytes.
  /// Empty if it is not packed, and in the reference's layouts of integers.
  std::span<const std::byte> layout_bytes() const;
  /// Reads from `memory` instead, which holds the bytes of layout_bytes() and is aligned to 64.
  /// Copies of this weight keep the memory that they have. Throws Error if it is not packed.
  void read_from(std::shared_ptr<std::byte> memory);
  /// The weight [out, in] if of_floats() kept it, else undefined.
  const Tensor& elements() const { return elements_; }

  /// out = x W^T + bias: x [N, in] f32 or bf16 (of the weight's dtype where it is packed as
  /// floats), bias [out] f32 or absent, out [N, out] f32 or bf16. The caller checks sizes.
  void multiply(const Tensor& x, const Tensor& bias, Tensor& out) const;

  /// Products that share one input; each has the same bits as on its own. Integer products of one
  /// kind are batched: the input is quantised once for all of them, and they run in one parallel
  /// region, which pays in decoding.
  class Products {
   public:
    /// x, and the arguments of add(), must live until run().
    explicit Products(const Tensor& x) : x_(x) {}
    void add(const PackedWeight& weight, const Tensor& bias, Tensor& out);
    /// Every `out` is written when this returns.
    void run();

   private:
    static constexpr size_t kMaxProducts = 4;

    const Tensor& x_;
    std::array<kernels::BlockProduct, kMaxProducts> blocks_{};
    std::array<kernels::Int8Product, kMaxProducts> int8_{};
    size_t n_blocks_ = 0, n_int8_ = 0;
  };

 private:
  using Layout = std::variant<std::monostate, kernels::PackedMatrix, kernels::PackedBlocks,
                              kernels::PackedInt8>;
  explicit PackedWeight(Layout layout) : layout_(std::move(layout)) {}

  Layout layout_;
  Tensor elements_;
  DType packed_from_ = DType::f32;  // by of_floats()
};

}  // namespace heed
