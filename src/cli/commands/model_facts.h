#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "heed/model/transformer.h"

namespace heed::cli {

/// The weights stored in a model directory or GGUF file.
struct StoredWeights {
  std::map<std::string, int64_t> tensors = {};  // number of tensors by type: "f32", "q4_0", "Q5_K"
  int64_t bytes = 0;
  std::string missing;  // why there are no weights; empty if there are
};

/// Reads the headers of the weights. Does not throw: weights may be missing, since config.json is
/// enough to describe a model.
StoredWeights stored_weights(const std::string& path);

struct TokenizerFacts {
  std::string files = {};  // "tokenizer.json"
  int64_t pieces = 0;
  std::string missing;  // why there is no tokenizer; empty if there is one
};

/// Reads the tokenizer of a model directory or GGUF file. Does not throw.
TokenizerFacts tokenizer_facts(const std::string& path);

/// Bytes of all parameters as load_model() and heed quantize store them for `dtype`.
int64_t weight_bytes(const model::Transformer& model, DType dtype);

/// Bytes of the kv cache per token: per token read by the decoder for self-attention, and as many
/// per source token for cross-attention. 0 without a decoder.
int64_t cache_bytes(const model::Transformer& model, DType dtype);

/// The memory for running a model with a context of a given length.
struct MemoryNeeds {
  int64_t context = 0;            // tokens; of an encoder-decoder: of the source and of the output
  DType cache_type = DType::f32;  // default type of the kv cache
  int64_t weight_bytes = 0, cache_bytes = 0;

  int64_t bytes() const { return weight_bytes + cache_bytes; }
};

/// The weights as stored, or in f32 if there are none, and the kv cache. Without `context`: the
/// model's context length, at most 8192. Throws Error on a context longer than the model's, and
/// when the number of bytes exceeds 64 bits.
MemoryNeeds memory_needs(const model::Transformer& model, const StoredWeights& stored,
                         std::optional<int64_t> context);

}  // namespace heed::cli
