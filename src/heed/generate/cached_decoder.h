#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// A kv cache for each decoder layer, of type `dtype`: f32, bf16 or q8_0; without it, that of the
/// computation. Throws Error for q8_0 when the model's heads are not whole blocks, and when it has
/// latent attention, which keeps latents instead of keys and values.
std::vector<nn::KeyValueCache> make_caches(const model::Transformer& model,
                                           std::optional<DType> dtype);

/// Whether some weights are packed for products of integers.
bool multiplies_integers(const model::Transformer& model);

/// The default type of the kv cache for a computation in `dtype`: bf16 if weights are multiplied as
/// integers, whose rounding is far coarser, else `dtype`.
DType suitable_cache(const model::Transformer& model, DType dtype);

/// The memory with its keys and values in `dtype`. Throws Error as make_caches() does.
model::Memory kept_in(DType dtype, const model::Transformer& model, model::Memory memory);

/// A decoder with a kv cache for any number of texts. The keys and values of all tokens of all
/// texts are in one cache and never move. Each text has a list of its rows, so a beam that branches
/// copies only integers, and a text that has ended costs nothing.
class CachedDecoder {
 public:
  /// The kv cache.
  struct Cache {
    std::optional<DType> dtype = {};  // without it: that of the computation
    int64_t expected_rows = 0;        // of all texts together; may be exceeded
  };
  /// `memory` is the encoder's output for each source; empty for a decoder alone. Model and memory
  /// must outlive this. Throws Error as make_caches() does.
  CachedDecoder(const model::Transformer& model, DType dtype, const model::Memory& memory,
                Cache cache);

  /// New tokens of one text.
  struct DecodeInput {
    std::span<const int32_t> tokens;   // at least one
    std::vector<int32_t>& cache_rows;  // of the text's earlier tokens; the new rows are appended
    int64_t source = 0;                // the sequence of the memory that the text reads
  };
  /// The logits [inputs, V] after the last token of each input. A row depends only on its own text.
  /// Throws Error as checked_logits() does.
  Tensor decode(std::span<const DecodeInput> inputs);

 private:
  /// The input of one pass: the new tokens of all texts, end to end.
  struct Pass {
    std::vector<int32_t> input, positions;
    std::vector<int32_t> last_rows;  // of each text
    std::shared_ptr<kernels::AttentionSpans> own, memory;
  };
  void begin_pass();
  void add(const DecodeInput& input);

  const model::Transformer& model_;
  const model::Memory& memory_;
  Context context_;
  Pass pass_;                              // kept from step to step for its allocations
  std::vector<nn::KeyValueCache> caches_;  // [L]
  int32_t rows_ = 0;                       // of the caches
};

}  // namespace heed::generate
