#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "heed/model/transformer.h"

namespace heed::cli {

/// The weights that lie beside a model's description.
struct StoredWeights {
  std::map<std::string, int64_t> tensors = {};  // their number, by type: "f32", "q4_0", "Q5_K"
  int64_t bytes = 0;
  std::string missing;  // why there are none; empty when there are
};

/// Reads the headers of the weights of a model directory or GGUF file. Does not throw: weights may
/// be missing, since config.json is enough to describe a model.
StoredWeights stored_weights(const std::string& path);

struct TokenizerFacts {
  std::string files = {};  // "tokenizer.json"
  int64_t pieces = 0;
  std::string missing;  // why there is none; empty when there is
};

/// Reads the tokenizer of a model directory or GGUF file. Does not throw.
TokenizerFacts tokenizer_facts(const std::string& path);

/// Bytes of all parameters when they are stored as load_model() and heed quantize store them in
/// `dtype`.
int64_t weight_bytes(const model::Transformer& model, DType dtype);

/// Bytes that the kv cache takes for each token: of self-attention for a token that the decoder has
/// read, and of cross-attention for a token of the source. 0 without a decoder.
int64_t cache_bytes(const model::Transformer& model, DType dtype);

/// The memory for running a model with so many tokens.
struct MemoryNeeds {
  int64_t context = 0;            // tokens of the text; of an encoder-decoder, of source and output
  DType cache_type = DType::f32;  // of the kv cache, if nothing else is asked for
  int64_t weight_bytes = 0, cache_bytes = 0;

  int64_t bytes() const { return weight_bytes + cache_bytes; }
};

/// The weights as they are stored, or in f32 where there are none, and the kv cache. Without
/// `context`: as many tokens as the model reads, at most 8192. Throws Error on a context longer
/// than the model reads, and when the bytes do not fit 64 bits.
MemoryNeeds memory_needs(const model::Transformer& model, const StoredWeights& stored,
                         std::optional<int64_t> context);

}  // namespace heed::cli
