#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// An empty kv cache for each decoder layer. `dtype` is f32, bf16 or q8_0; without it, the caches
/// have the type of the activations. Throws Error for q8_0 if the head dimensions are not multiples
/// of the block size, or if the model has latent attention, which caches latents instead of keys
/// and values.
std::vector<nn::KeyValueCache> make_caches(const model::Transformer& model,
                                           std::optional<DType> dtype);

/// Whether any weights are packed for int8 products.
bool computes_in_int8(const model::Transformer& model);

/// The default type of the kv cache for activations in `dtype`: bf16 if the model computes in int8,
/// whose rounding errors are far larger than those of bf16; else `dtype`.
DType default_cache_dtype(const model::Transformer& model, DType dtype);

/// `memory` with its keys and values converted to `dtype`. Throws Error as make_caches() does.
model::Memory in_cache_dtype(DType dtype, const model::Transformer& model, model::Memory memory);

/// A decoder with a kv cache for any number of sequences. The keys and values of all sequences are
/// rows of one cache and never move. Each sequence has a list of its rows, so a beam that branches
/// copies only integers, and a finished sequence costs nothing.
class CachedDecoder {
 public:
  struct Cache {
    std::optional<DType> dtype = {};  // without it: the type of the activations
    int64_t expected_rows = 0;        // of all sequences; reserved in advance, may be exceeded
  };
  /// `memory` is the encoder's output for each source; empty for a decoder-only model. Model and
  /// memory must outlive this. Throws Error as make_caches() does.
  CachedDecoder(const model::Transformer& model, DType dtype, const model::Memory& memory,
                Cache cache);

  /// New tokens of one sequence.
  struct DecodeInput {
    std::span<const int32_t> tokens;   // at least one
    std::vector<int32_t>& cache_rows;  // of the earlier tokens; decode() appends the new rows
    int64_t source = 0;                // the sequence of the memory that cross-attention reads
  };
  /// The logits [inputs, V] after the last token of each input. A row depends on its own sequence
  /// only. Throws Error as checked_logits() does.
  Tensor decode(std::span<const DecodeInput> inputs);

 private:
  /// The input of one forward pass: the new tokens of all sequences, concatenated.
  struct Pass {
    std::vector<int32_t> input, positions;
    std::vector<int32_t> last_rows;  // the last token of each sequence
    std::shared_ptr<kernels::AttentionSpans> own, memory;
  };
  void begin_pass();
  void add(const DecodeInput& input);

  const model::Transformer& model_;
  const model::Memory& memory_;
  Context context_;
  Pass pass_;                              // a member so that steps reuse its allocations
  std::vector<nn::KeyValueCache> caches_;  // [L]
  int32_t rows_ = 0;                       // in use, of each cache
};

}  // namespace heed::generate
