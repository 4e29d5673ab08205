#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/cross_attention_sums.h"
#include "heed/generate/row_pool.h"
#include "heed/generate/shortlist_head.h"
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

/// The kv caches of a CachedDecoder.
struct CacheOptions {
  // Without a type: that of the activations.
  std::optional<DType> dtype = {};         // of the decoder's self-attention
  std::optional<DType> memory_dtype = {};  // of the keys and values of the encoder's output
  int64_t expected_rows = 0;               // of all sequences; reserved in advance, may be exceeded
};

/// A decoder with a kv cache for any number of sequences, and, for an encoder-decoder, one for the
/// encoder's output. Each sequence has a list of its rows in the caches. Rows never move, so a beam
/// that branches copies only integers; rows that are released are written again.
class CachedDecoder {
 public:
  /// The model must outlive this. Throws Error as make_caches() does.
  CachedDecoder(const model::Transformer& model, DType dtype, CacheOptions options);

  /// A source for the encoder.
  struct EncodeInput {
    std::span<const int32_t> tokens;    // at least one
    std::vector<int32_t>& memory_rows;  // receives the rows of its keys and values
    std::span<const ScaledAdapter> adapters = {};
  };
  /// Encodes sources in one pass and caches the keys and values that cross-attention reads. Throws
  /// Error as Transformer::encode() and data::append_sequence() do.
  void encode(std::span<const EncodeInput> inputs);

  /// New tokens of one sequence.
  struct DecodeInput {
    std::span<const int32_t> tokens;       // at least one
    std::vector<int32_t>& cache_rows;      // of the earlier tokens; decode() appends the new rows
    std::span<const int32_t> memory_rows;  // of its source; empty for a decoder-only model
    bool generated = false;                // not tokens of a prompt; see nn::SelfSpans
    int64_t logit_rows = 1;                // how many of the last tokens want logits after them
    std::span<const ScaledAdapter> adapters = {};  // which have computed its earlier rows
    /// Whether cross_attention() gets the rows of the tokens that want logits.
    bool cross_attention = false;
    TokenList shortlist = {};  // whose logits it wants; null: all
  };
  /// The logits [M, V] after the M tokens that want them, on the model's device; undefined if all
  /// of them have shortlists and the model's head can choose rows (listed_logits()). Prompts must
  /// precede generated tokens. Inputs with equal memory rows should be neighbours, which then share
  /// the reading of these rows. A row of logits depends on its own sequence only; it may hold
  /// numbers that are not finite. If this throws, no rows were appended.
  Tensor decode(std::span<const DecodeInput> inputs);

  /// The logits of rows [begin, end) of M, of the tokens of their shortlist, which is one. Called
  /// when decode() has returned an undefined tensor.
  Tensor listed_logits(int64_t begin, int64_t end) const;

  /// The cross-attention weights of tokens.
  const CrossAttentionSums& cross_attention() const { return cross_attention_; }

  /// The rows of the caches; release what is no longer needed.
  RowPool& rows() { return rows_; }
  RowPool& memory_rows() { return memory_rows_; }
  const RowPool& rows() const { return rows_; }
  const RowPool& memory_rows() const { return memory_rows_; }

 private:
  /// The input of one forward pass: the new tokens of all sequences, concatenated.
  struct Pass {
    std::vector<int32_t> input, positions;
    std::vector<int32_t> logit_rows;  // the tokens that want logits
    std::shared_ptr<kernels::AttentionMetadata> own, memory;
    int64_t prompts = 0;
    std::vector<AdaptedRows> adapters;
    std::vector<ShortlistHead::Part> shortlists;  // of the rows that want logits
  };
  void begin_pass();
  /// Notes the adapters of rows that follow those noted before.
  void adapt(int64_t begin, int64_t end, std::span<const ScaledAdapter> adapters);
  void use_adapters();
  void add(const DecodeInput& input);
  void add_shortlist(const DecodeInput& input);
  void add_memory(std::span<const int32_t> rows, int32_t q_end);
  Tensor run_pass();
  Tensor forward();
  /// Releases the rows that a failed decode() appended.
  void undo(std::span<const DecodeInput> inputs);

  const model::Transformer& model_;
  Context context_;
  Pass pass_;                                     // a member so that steps reuse its allocations
  std::vector<size_t> sizes_before_;              // of the inputs' cache_rows, in decode()
  std::vector<nn::KeyValueCache> caches_;         // [L]
  std::vector<nn::KeyValueCache> memory_caches_;  // [L]; none for a decoder-only model
  model::Memory memory_;                          // all rows of the memory caches
  CrossAttentionSums cross_attention_;
  ShortlistHead shortlist_head_;
  bool uses_shortlists_ = false;         // in this pass
  std::vector<Tensor> listed_logits_;    // of each part, if it does
  std::unique_ptr<GraphRunner> graphs_;  // of a device, for passes of generated tokens
  RowPool rows_, memory_rows_;
};

}  // namespace heed::generate
