#include "heed/engine/load.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/engine/check_known.h"
#include "heed/engine/load_types.h"
#include "heed/engine/weight_cache.h"
#include "heed/generate/cached_decoder.h"
#include "heed/text/tokenizer_path.h"

namespace heed::engine {
namespace {

void check(const LoadOptions& options) {
  check_known("LoadOptions::weights", options.weights, kWeightTypes);
  check_known("LoadOptions::compute", options.compute, kComputes);
  check_known("LoadOptions::cache", options.cache, kCacheTypes);
  check_known("LoadOptions::speculation.draft_weights", options.speculation.draft_weights,
              kWeightTypes);
  if (options.parts)
    require(options.compute != Compute::bf16 && options.adapters.empty() &&
                !options.speculation.ngram && options.speculation.draft.empty(),
            "a model that is divided among ranks has no bf16 arithmetic, adapters or speculative "
            "decoding");
  require(!options.speculation.ngram || options.speculation.draft.empty(),
          "drafts of n-grams and a draft model are both asked for, expected one of them");
}

/// The model with weights of type `weights` and, if that is set, packed for `pack`.
std::unique_ptr<model::Transformer> load_as(const std::filesystem::path& path,
                                            const LoadOptions& options,
                                            std::optional<DType> weights,
                                            std::optional<Compute> pack, WeightCache* cache) {
  checkpoint::LoadOptions how{.precision = {weights},
                              .pack = pack,
                              .on_packed = {},
                              .random_seed = options.random_weights,
                              .context = options.rope_context,
                              .parts = options.parts};
  if (cache) how.on_packed = [cache](PackedWeight& weight) { cache->add(weight); };
  return checkpoint::load_model(path, how);
}

bool has_matrices_of_16_bits(const model::Transformer& model) {
  return std::ranges::any_of(model.parameters().all(), [](const Parameter& parameter) {
    return is_plain(parameter.value.dtype()) && parameter.value.dtype() != DType::f32;
  });
}

/// The type to which stored weights should be converted, if any. An encoder multiplies many rows at
/// once, which is fastest with packed f32 matrices.
std::optional<DType> preferred_dtype(const LoadOptions& options, const model::Transformer& model) {
  if (options.weights || generate::computes_in_int8(model)) return std::nullopt;
  if (options.compute == Compute::int8) return DType::q8_0;
  if (options.compute != Compute::bf16 && model.has_encoder() && has_matrices_of_16_bits(model))
    return DType::f32;
  return std::nullopt;
}

}  // namespace

DType dtype_of(WeightType type) { return *dtype_named(name_of(type)); }

DType dtype_of(CacheType type) {
  return type == CacheType::int8 ? DType::q8_0 : *dtype_named(name_of(type));
}

DType activation_dtype(const LoadOptions& options) {
  return heed::activation_dtype(options.compute.value_or(Compute::f32));
}

std::unique_ptr<model::Transformer> load_transformer(const std::filesystem::path& path,
                                                     const LoadOptions& options) {
  check(options);
  std::optional<DType> weights;
  if (options.weights) weights = dtype_of(*options.weights);
  std::optional<Compute> pack;
  if (options.compute != Compute::f32) pack = options.compute.value_or(Compute::int8);
  std::optional<WeightCache> cache;
  const auto load_with_cache = [&] {
    if (!options.weight_cache.empty()) cache.emplace(path, options);
    return load_as(path, options, weights, pack, cache ? &*cache : nullptr);
  };
  auto model = load_with_cache();
  if (const auto preferred = preferred_dtype(options, *model)) {
    weights = preferred;
    if (preferred == DType::f32) pack = Compute::f32;
    model = load_with_cache();
  }
  // Packing pays for an encoder, which reads whole texts, but not for decoding single tokens.
  const bool packs_f32 = options.compute != Compute::bf16 && model->has_encoder();
  for (Parameter& parameter : model->parameters().all()) {
    Parameter* const one = &parameter;
    if (packs_f32) model->pack({&one, 1}, Compute::f32);
    if (cache) cache->add(parameter.packed);
  }
  if (cache) cache->finish();
  require(options.compute != Compute::int8 || generate::computes_in_int8(*model),
          "{}: int8 arithmetic needs quantised weights, and there are none: load them as q8_0",
          path.string());
  return model;
}

text::PairTokenizer read_tokenizer(const std::filesystem::path& path) {
  if (text::TranslationTokenizer::exists(path) || text::TranslationTokenizer::is_multilingual(path))
    return text::PairTokenizer(text::TranslationTokenizer::load(path));
  return text::PairTokenizer(text::read_tokenizer(path));
}

std::vector<std::string> vocabulary_warnings(const std::filesystem::path& path,
                                             const text::PairTokenizer& tokenizer,
                                             const model::Transformer& model) {
  std::vector<std::string> warnings;
  const auto compare = [&](int64_t pieces, int64_t rows) {
    if (pieces <= rows) return;
    warnings.push_back(fmt::format(
        "{}: the tokenizer has {} pieces, the model's vocabulary {}: a text with a piece from {} "
        "on cannot be read",
        path.string(), pieces, rows, rows));
  };
  compare(tokenizer.vocab_size(), model.config().vocab_size);
  const text::TranslationTokenizer* two = tokenizer.translation_tokenizer();
  if (two && two->source_vocab_size() != two->vocab_size())
    compare(two->source_vocab_size(), model.config().source_vocab_size());
  return warnings;
}

const text::Tokenizer& shared_tokenizer(const std::filesystem::path& path,
                                        const text::PairTokenizer& tokenizer,
                                        std::string_view purpose) {
  const text::Tokenizer* shared = tokenizer.shared_tokenizer();
  require(shared,
          "{} has a tokenizer for source and target, which {} cannot use: it is made for "
          "translation",
          path.string(), purpose);
  return *shared;
}

}  // namespace heed::engine
