#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heed/export.h"
#include "heed/load_options.h"

namespace heed {

/// A weight of a model.
struct WeightFacts {
  std::string name;            // "model.embed_tokens.weight"
  std::vector<int64_t> shape;  // outermost axis first
};

/// The weights stored in a model directory or GGUF file.
struct StoredWeights {
  std::map<std::string, int64_t> tensors = {};  // number of tensors by type: "f32", "q4_0", "Q5_K"
  int64_t bytes = 0;                            // of all of them
  std::string missing;                          // why there are no weights; empty if there are
  /// Which holds or names them: "model.safetensors", "pytorch_model.bin.index.json".
  std::string file = {};
};

/// The tokenizer of a model directory or GGUF file.
struct TokenizerFacts {
  std::string files = {};  // "tokenizer.json"
  int64_t pieces = 0;      // the highest id plus one
  std::string missing;     // why there is no tokenizer; empty if there is one
  /// The codes of the languages that a translator can be told to translate from and into.
  std::vector<std::string> source_languages = {}, languages = {};
};

/// The memory for running a model with a context of a given length.
struct MemoryNeeds {
  int64_t context = 0;  // tokens; of an encoder-decoder: of the source and of the output
  CacheType cache_type = CacheType::f32;  // default type of the kv cache
  int64_t weight_bytes = 0;               // as stored, or in f32 if no weights are
  int64_t cache_bytes = 0;                // for a context of this length

  /// The bytes of weights and cache.
  int64_t bytes() const { return weight_bytes + cache_bytes; }
};

/// A description of a model by its files; its weights are not read.
struct ModelFacts {
  std::string family;                             // as config.json names it
  bool has_encoder = false, has_decoder = false;  // which stacks it has
  int64_t parameters = 0;                         // their number
  int64_t context_length = 0;                     // in tokens; 0: not limited
  std::string configuration;                      // a JSON object: all fields, under heed's names
  std::vector<WeightFacts> weights;               // all parameters
  /// Bytes of all parameters as they are loaded with LoadOptions::weights, and as `heed quantize`
  /// stores them.
  std::map<WeightType, int64_t> weight_bytes;
  /// Bytes of the kv cache per token: per token read by the decoder for self-attention, and as many
  /// per source token for cross-attention. 0 without a decoder.
  std::map<CacheType, int64_t> cache_bytes_per_token;
  StoredWeights stored;            // the weights that are there
  TokenizerFacts tokenizer;        // the tokenizer that is there
  MemoryNeeds memory;              // for running it
  Compute compute = Compute::f32;  // on a CPU, unless LoadOptions say otherwise
  /// Whether this CPU computes vectors faster with Compute::bf16, which turns them by less than
  /// 1e-3 (1 minus the cosine): of an encoder without a head, whose weights are not quantised.
  bool bf16_is_faster = false;
  std::vector<std::string> warnings;  // of the configuration; see Model::warnings()
};

/// Describes a model directory, of which config.json is enough, or a GGUF file. `context` is the
/// length for the memory; without it: the model's context length, at most 8192. Throws Error when
/// the configuration cannot be read, and as memory_needs() does.
HEED_EXPORT ModelFacts describe_model(const std::filesystem::path& path,
                                      std::optional<int64_t> context = {});

/// ModelFacts::memory for a context of another length. Throws Error on a context longer than the
/// model's, and when the number of bytes exceeds 64 bits.
HEED_EXPORT MemoryNeeds memory_needs(const ModelFacts& facts, std::optional<int64_t> context = {});

/// ModelFacts::warnings alone.
HEED_EXPORT std::vector<std::string> configuration_warnings(const std::filesystem::path& path);

}  // namespace heed
