#pragma once

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
  explicit KeyValueCache(Mode mode = Mode::forget) : mode_(mode) {}

  /// Appends rows; the result covers all rows kept, the new ones last.
  KeysValues extend(const KeysValues& fresh);

  int64_t rows() const { return rows_; }

 private:
  Mode mode_;
  int64_t rows_ = 0;
  KeysValues kept_;  // with room for more rows
};

}  // namespace heed::nn
