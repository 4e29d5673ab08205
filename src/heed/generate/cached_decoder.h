#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// One cache for each decoder layer, which keeps keys and values in `dtype`: f32, bf16 or q8_0;
/// without it: in that of the computation. Throws Error when the model's heads are no whole blocks
/// of q8_0, and when its attention is latent, which rebuilds keys from what is kept.
std::vector<nn::KeyValueCache> make_caches(const model::Transformer& model,
                                           std::optional<DType> dtype);

/// Whether some weights are packed for products of integers.
bool multiplies_integers(const model::Transformer& model);

/// What keys and values are kept in unless something else is asked for, of a computation in
/// `dtype`: that, but bf16 where weights are multiplied as integers, which are rounded more
/// coarsely by far.
DType suitable_cache(const model::Transformer& model, DType dtype);

/// The keys and values of a memory in `dtype`. Throws Error as make_caches does.
model::Memory kept_in(DType dtype, const model::Transformer& model, model::Memory memory);

/// A decoder that is given texts piece by piece. The keys and values of all tokens of all texts lie
/// in one cache and never move; which of them a text sees is a list of their rows, so that a text
/// that splits in two copies a few integers, and one that has ended costs nothing more.
class CachedDecoder {
 public:
  /// How keys and values are kept.
  struct Cache {
    std::optional<DType> dtype = {};  // without it: that of the computation
    int64_t expected_rows = 0;        // of all texts together; more are possible
  };
  /// `memory` is what the encoder made of each source; empty for a decoder alone. Model and memory
  /// must outlive this. Throws Error as make_caches does.
  CachedDecoder(const model::Transformer& model, DType dtype, const model::Memory& memory,
                Cache cache);

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
  /// The input of one pass: the new tokens of all texts, end to end.
  struct Pass {
    std::vector<int32_t> input, positions;
    std::vector<int32_t> last_rows;  // of each text
    std::shared_ptr<kernels::AttentionSpans> own, memory;
  };
  void begin_pass();
  void add(const Feed& feed);

  const model::Transformer& model_;
  const model::Memory& memory_;
  Context context_;
  Pass pass_;  // kept, so that its lists need not grow anew at every step
  std::vector<nn::KeyValueCache> caches_;  // [L]
  int32_t rows_ = 0;                       // of the caches
};

}  // namespace heed::generate
