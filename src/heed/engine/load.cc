#include "heed/engine/load.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/engine/load_options.h"
#include "heed/engine/model_sizes.h"
#include "heed/engine/weight_cache.h"
#include "heed/generate/cached_decoder.h"
#include "heed/quantize/quantization.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/text/gguf/tokenizer.h"

namespace heed::engine {
namespace {

void check(const LoadOptions& options) {
  check_all<LoadOption>(options);
  parse_device(options.device);
  check_all<SpeculationOption>(options.speculation);
  if (options.parts)
    require(options.compute != Compute::bf16 && options.adapters.empty() &&
                !options.speculation.ngram && options.speculation.draft.empty(),
            "a model that is divided among ranks has no bf16 arithmetic, adapters or speculative "
            "decoding");
  require(!options.speculation.ngram || options.speculation.draft.empty(),
          "drafts of n-grams and a draft model are both asked for, expected one of them");
}

bool is_matrix_of_16_bits(const Parameter& parameter, DType dtype) {
  return parameter.shape.rank() > 1 && is_plain(dtype) && dtype != DType::f32;
}

bool is_matrix_in_f16(const Parameter& parameter, DType dtype) {
  return parameter.shape.rank() > 1 && dtype == DType::f16;
}

/// Whether holds(parameter, stored dtype) is true of a parameter.
template <typename Holds>
bool any_parameter(const checkpoint::OpenedModel& opened, const Holds& holds) {
  const std::vector<DType> stored = opened.stored_dtypes();
  size_t i = 0;
  return std::ranges::any_of(opened.model().parameters().all(), [&](const Parameter& parameter) {
    return holds(parameter, stored[i++]);
  });
}

bool has_blocks(const checkpoint::OpenedModel& opened) {
  return any_parameter(opened, [&](const Parameter& parameter, DType dtype) {
    return opened.model().packs(parameter, dtype, Compute::int8);
  });
}

/// The types in which weights are kept and multiplied.
struct LoadPlan {
  std::optional<DType> weights;  // none: as they are stored
  std::optional<Compute> pack;
};

/// An encoder multiplies many rows at once, which is fastest with packed f32 matrices.
LoadPlan plan_of(const LoadOptions& options, const checkpoint::OpenedModel& opened) {
  LoadPlan plan;
  if (options.weights) plan.weights = dtype_of(*options.weights);
  if (options.compute != Compute::f32) plan.pack = options.compute.value_or(Compute::int8);
  if (plan.weights) return plan;
  if (plan.pack == Compute::int8 && has_blocks(opened)) return plan;
  if (options.compute == Compute::int8) {
    plan.weights = DType::q8_0;
  } else if (options.compute == Compute::bf16 && opened.model().device() &&
             any_parameter(opened, is_matrix_in_f16)) {
    plan.weights = DType::bf16;  // tensor cores multiply two matrices of one type
  } else if (options.compute != Compute::bf16 && opened.model().has_encoder() &&
             any_parameter(opened, is_matrix_of_16_bits)) {
    plan.weights = DType::f32;
    plan.pack = Compute::f32;
  }
  return plan;
}

}  // namespace

DType dtype_of(WeightType type) { return *dtype_named(name_of(type)); }

DType dtype_of(CacheType type) {
  return type == CacheType::int8 ? DType::q8_0 : *dtype_named(name_of(type));
}

DType activation_dtype(const LoadOptions& options) {
  return heed::activation_dtype(options.compute.value_or(Compute::f32));
}

checkpoint::OpenedModel open_model(const io::ModelFiles& files, const LoadOptions& options) {
  check(options);
  return checkpoint::OpenedModel(files, {.context = options.rope_context,
                                         .parts = options.parts,
                                         .random_seed = options.random_weights});
}

std::unique_ptr<model::Transformer> load_transformer(checkpoint::OpenedModel opened,
                                                     const std::filesystem::path& path,
                                                     const LoadOptions& options, Device* device) {
  require(!device || options.weight_cache.empty(),
          "a weight cache holds weights packed for the CPU, and the model computes on {}",
          device ? device->name() : "");
  opened.move_to(device);
  const LoadPlan plan = plan_of(options, opened);
  std::optional<WeightCache> cache;
  if (!options.weight_cache.empty()) cache.emplace(path, options);
  checkpoint::WeightOptions how{.precision = {plan.weights}, .pack = plan.pack};
  if (cache) how.on_packed = [&cache](PackedWeight& weight) { cache->add(weight); };
  auto model = std::move(opened).load(how);
  // Packing pays for an encoder, which reads whole texts, but not for decoding single tokens. On a
  // device it copies nothing.
  const bool packs_f32 = options.compute != Compute::bf16 && (device || model->has_encoder());
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

std::unique_ptr<model::Transformer> load_transformer(const io::ModelFiles& files,
                                                     const LoadOptions& options) {
  return load_transformer(open_model(files, options), files.path(), options);
}

LoadOptions options_on_device(const checkpoint::OpenedModel& opened, LoadOptions options) {
  if (options.compute || options.weights) return options;
  if (!has_blocks(opened) && any_parameter(opened, is_matrix_of_16_bits))
    options.compute = Compute::bf16;
  return options;
}

LoadedBytes memory_to_load(const checkpoint::OpenedModel& opened, const LoadOptions& options) {
  const LoadPlan plan = plan_of(options, opened);
  const model::Transformer& model = opened.model();
  LoadedBytes bytes{.weights_as_q8_0 = weight_bytes(model, DType::q8_0)};
  const std::vector<DType> stored = opened.stored_dtypes();
  bool multiplies_integers = false;
  size_t i = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    const DType from = stored[i++];
    const DType dtype =
        plan.weights ? quantize::quantized_dtype(*plan.weights, parameter, parameter.shape, from)
                     : from;
    bytes.weights += bytes_of(dtype, parameter.shape.elements());
    multiplies_integers |= plan.pack == Compute::int8 && model.packs(parameter, dtype, *plan.pack);
  }
  const DType usual = multiplies_integers ? DType::bf16 : activation_dtype(options);
  const int64_t limit = context_length(model.config());
  const int64_t context = limit > 0 ? std::min(limit, kDefaultContext) : kDefaultContext;
  bytes.cache = cache_bytes_per_token(model, options.cache ? dtype_of(*options.cache) : usual) *
                context * (model.has_encoder() && model.has_decoder() ? 2 : 1);
  return bytes;
}

uint64_t weight_file_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return file_size(path, ignored);
  const auto bytes_with = [&](const char* extension) {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
      if (entry.path().extension() == extension) bytes += entry.file_size(ignored);
    return bytes;
  };
  const uint64_t safetensors = bytes_with(".safetensors");
  return safetensors > 0 ? safetensors : bytes_with(".bin");
}

text::ModelTokenizer read_tokenizer(const io::ModelFiles& files) {
  const std::filesystem::path& path = files.path();
  if (files.is_gguf())
    return text::ModelTokenizer(text::read_gguf_tokenizer(files.gguf()->metadata(), path.string()));
  if (text::TranslationTokenizer::exists(path) || text::TranslationTokenizer::is_multilingual(path))
    return text::ModelTokenizer(text::TranslationTokenizer::load(path));
  return text::ModelTokenizer(text::read_tokenizer(path));
}

std::vector<std::string> vocabulary_warnings(const std::filesystem::path& path,
                                             const text::ModelTokenizer& tokenizer,
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
                                        const text::ModelTokenizer& tokenizer,
                                        std::string_view purpose) {
  const text::Tokenizer* shared = tokenizer.shared_tokenizer();
  require(shared,
          "{} has a tokenizer for source and target, which {} cannot use: it is made for "
          "translation",
          path.string(), purpose);
  return *shared;
}

}  // namespace heed::engine
