#include "heed/model_facts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/engine/load.h"
#include "heed/engine/model_sizes.h"
#include "heed/engine/system_errors.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/kernels/matmul.h"
#include "heed/model/families/family.h"
#include "heed/model/families/known.h"
#include "heed/text/gguf/tokenizer.h"
#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed {
namespace {

void count_gguf_weights(const std::filesystem::path& path, StoredWeights& stored) {
  const auto file = io::GgufFile::open(path);
  stored.file = path.filename().string();
  for (const std::string& name : file->names()) {
    const io::GgufFile::Entry& entry = file->entry(name);
    ++stored.tensors[entry.type];
    stored.bytes += static_cast<int64_t>(entry.end - entry.begin);
  }
}

void count_directory_weights(const std::filesystem::path& path, StoredWeights& stored) {
  const auto source = checkpoint::open_directory_tensors(path);
  stored.file = std::filesystem::path(source->name()).filename().string();
  for (const std::string& name : source->names()) {
    const Tensor tensor = source->get(name);
    ++stored.tensors[std::string(name_of(tensor.dtype()))];
    stored.bytes += tensor.bytes();
  }
}

/// Whether heed would compute in int8, so that the kv cache is bf16 by default.
bool has_blocks(const StoredWeights& stored) {
  return std::ranges::any_of(stored.tensors, [](const auto& type) {
    return type.first.starts_with("q") || type.first.starts_with("Q");
  });
}

/// The name of the file with the tokenizer's vocabulary.
std::string vocabulary_file(const text::Tokenizer& tokenizer) {
  for (const char* name : {"tokenizer.json", "vocab.json", "tokenizer.model", "spiece.model",
                           "sentencepiece.bpe.model", "spm.model", "vocab.txt"})
    for (const auto& [file, contents] : tokenizer.files())
      if (file == name) return file;
  return "unknown file";
}

/// Reads the headers of the weights, which may be missing.
StoredWeights stored_weights(const std::filesystem::path& path) {
  StoredWeights stored;
  try {
    if (path_is_directory(path))
      count_directory_weights(path, stored);
    else
      count_gguf_weights(path, stored);
  } catch (const Error& error) {
    stored = {.missing = error.what()};
  }
  return stored;
}

/// The tokenizer, which may be missing.
TokenizerFacts tokenizer_facts(const std::filesystem::path& path) {
  try {
    if (!path_is_directory(path)) {
      const auto file = io::GgufFile::open(path);
      return {"in the GGUF file",
              text::read_gguf_tokenizer(file->metadata(), path.string()).vocab_size(), ""};
    }
    const bool marian = text::TranslationTokenizer::exists(path);
    if (marian || text::TranslationTokenizer::is_multilingual(path)) {
      const auto tokenizer = text::TranslationTokenizer::load(path);
      return {marian ? "source.spm, target.spm" : "for several languages", tokenizer.vocab_size(),
              "", text::names_of(tokenizer.languages().source_codes()),
              text::names_of(tokenizer.languages().codes())};
    }
    const text::Tokenizer tokenizer = text::Tokenizer::load(path);
    return {vocabulary_file(tokenizer), tokenizer.vocab_size(), ""};
  } catch (const Error& error) {
    return {.missing = error.what()};
  }
}

/// Scores and tokens of a head are not rounded to bf16 without being asked for.
bool gives_vectors_alone(const model::Transformer& model) {
  return model.has_encoder() && !model.has_decoder() && !model.config().has_head &&
         !model.config().classifier.present();
}

}  // namespace

MemoryNeeds memory_needs(const ModelFacts& facts, std::optional<int64_t> context) {
  require_input(!context || *context >= 1, "the context is {}, expected at least 1 token",
                context.value_or(0));
  const int64_t limit = facts.context_length;
  require(!context || limit == 0 || *context <= limit,
          "the context is {} tokens, the model reads at most {}", context.value_or(0), limit);
  MemoryNeeds needs;
  needs.context = context.value_or(limit > 0 ? std::min(limit, engine::kDefaultContext)
                                             : engine::kDefaultContext);
  needs.cache_type = has_blocks(facts.stored) ? CacheType::bf16 : CacheType::f32;
  needs.weight_bytes =
      facts.stored.missing.empty() ? facts.stored.bytes : facts.weight_bytes.at(WeightType::f32);
  const int64_t sides = facts.has_encoder && facts.has_decoder ? 2 : 1;
  const bool overflow =
      __builtin_mul_overflow(sides * facts.cache_bytes_per_token.at(needs.cache_type),
                             needs.context, &needs.cache_bytes) ||
      needs.cache_bytes > std::numeric_limits<int64_t>::max() - needs.weight_bytes;
  require(!overflow, "a context of {} tokens needs more than 2^63 bytes", needs.context);
  return needs;
}

ModelFacts describe_model(const std::filesystem::path& path, std::optional<int64_t> context) {
  return engine::with_system_errors([&] {
    const auto model = checkpoint::build_model(path);
    ModelFacts facts;
    facts.family = model::family_for(model->config()).model_type;
    facts.has_encoder = model->has_encoder();
    facts.has_decoder = model->has_decoder();
    facts.parameters = model->parameters().count();
    facts.context_length = engine::context_length(model->config());
    nlohmann::json configuration = model::heed_family().write_config(model->config());
    configuration.erase("model_type");
    facts.configuration = dump_json(configuration);
    for (const Parameter& parameter : model->parameters().all()) {
      WeightFacts& weight = facts.weights.emplace_back(WeightFacts{parameter.name, {}});
      for (int axis = 0; axis < parameter.shape.rank(); ++axis)
        weight.shape.push_back(parameter.shape[axis]);
    }
    for (const WeightType type : kWeightTypes)
      facts.weight_bytes[type] = engine::weight_bytes(*model, engine::dtype_of(type));
    for (const CacheType type : kCacheTypes)
      facts.cache_bytes_per_token[type] =
          engine::cache_bytes_per_token(*model, engine::dtype_of(type));
    facts.stored = stored_weights(path);
    facts.tokenizer = tokenizer_facts(path);
    facts.memory = memory_needs(facts, context);
    if (has_blocks(facts.stored)) facts.compute = Compute::int8;
    facts.bf16_is_faster = facts.compute == Compute::f32 && gives_vectors_alone(*model) &&
                           kernels::multiplies_bf16_faster();
    facts.warnings = model->config().warnings;
    return facts;
  });
}

std::vector<std::string> configuration_warnings(const std::filesystem::path& path) {
  return engine::with_system_errors(
      [&] { return checkpoint::build_model(path)->config().warnings; });
}

}  // namespace heed
