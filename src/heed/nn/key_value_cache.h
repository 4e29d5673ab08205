#pragma once

#include <optional>

#include "heed/tensor/tensor.h"

namespace heed::nn {

/// What a sequence offers: keys [Nk, G d] and values [Nk, G dv]. Latent attention offers keys
/// alone.
struct KeysValues {
  Tensor keys, values;
};

/// The keys and values of all tokens decoded so far, in the order in which they came. A row never
/// moves to another number: which rows belong to which hypothesis is said by
/// AttentionSpans::kv_rows, so reordering a beam copies nothing here.
class KeyValueCache {
 public:
  enum class Mode { forget, keep };
  /// With `forget` (training, encoding) nothing is kept: extend() hands back what it is given.
  /// `stored` is the dtype that rows are kept in: f32, bf16 or q8_0, whose rows are rounded to
  /// integers of 8 bits as they come, 32 with a scale (bf16 takes half the memory of f32 and half
  /// the time of reading it, q8_0 27%); without it they stay what they are.
  explicit KeyValueCache(Mode mode = Mode::forget, std::optional<DType> stored = {})
      : mode_(mode), stored_(stored) {}

  /// Makes room for so many rows when the first come, so that none are copied while they last.
  void expect(int64_t rows) { expected_ = rows; }

  /// Appends rows; the result covers all rows kept, the new ones last.
  KeysValues extend(const KeysValues& fresh);

  int64_t rows() const { return rows_; }

 private:
  void append(Tensor& kept, const Tensor& fresh) const;

  Mode mode_;
  std::optional<DType> stored_;
  int64_t rows_ = 0, expected_ = 0;
  KeysValues kept_;  // with room for more rows
};

}  // namespace heed::nn
