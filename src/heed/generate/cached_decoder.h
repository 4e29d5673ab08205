#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// A decoder that is given texts piece by piece. The keys and values of all tokens of all texts lie
/// in one cache and never move; which of them a text sees is a list of their rows, so that a text
/// that splits in two copies a few integers, and one that has ended costs nothing more.
class CachedDecoder {
 public:
  /// `memory` is what the encoder made of each source; empty for a decoder alone. Model and memory
  /// must outlive this.
  CachedDecoder(const model::Transformer& model, DType dtype, const model::Memory& memory);

  /// New tokens of one text.
  struct Feed {
    std::span<const int32_t> tokens;   // at least one
    std::vector<int32_t>& cache_rows;  // of the text's earlier tokens; extended by the new ones'
    int64_t source = 0;                // whose memory it reads
  };
  /// The logits [feeds, V] of what follows the last token of each. A row depends on its own text
  /// alone. Throws Error when the model's output is not a number.
  Tensor feed(std::span<const Feed> feeds);

 private:
  const model::Transformer& model_;
  const model::Memory& memory_;
  Context context_;
  std::vector<nn::KeyValueCache> caches_;  // [L]
  int32_t rows_ = 0;                       // of the caches
};

}  // namespace heed::generate
