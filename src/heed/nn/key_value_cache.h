#pragma once

#include <optional>

#include "heed/tensor/tensor.h"

namespace heed::nn {

/// The keys [Nk, G d] and values [Nk, G dv] that queries attend to. Latent attention has only keys.
struct KeysValues {
  Tensor keys, values;
};

/// The keys and values of all tokens decoded so far, in the order in which they came. A row never
/// moves: AttentionSpans::kv_rows lists the rows of each hypothesis, so reordering a beam copies
/// nothing here.
class KeyValueCache {
 public:
  enum class Mode { forget, keep };
  /// With `forget` (training, encoding) nothing is cached: extend() returns its argument. `stored`
  /// is the dtype of the cached rows, f32, bf16 or q8_0 (bf16 takes half the memory and bandwidth
  /// of f32, q8_0 27%); without it rows keep their dtype.
  explicit KeyValueCache(Mode mode = Mode::forget, std::optional<DType> stored = {})
      : mode_(mode), stored_(stored) {}

  /// The first extend() will allocate this many rows, so that none are copied until there are more.
  void expect(int64_t rows) { expected_ = rows; }

  /// Appends rows and returns all cached rows, the new ones last.
  KeysValues extend(const KeysValues& fresh);

  int64_t rows() const { return rows_; }

 private:
  void append(Tensor& cached, const Tensor& fresh) const;

  Mode mode_;
  std::optional<DType> stored_;
  int64_t rows_ = 0, expected_ = 0;
  KeysValues cached_;  // allocated for more rows
};

}  // namespace heed::nn
