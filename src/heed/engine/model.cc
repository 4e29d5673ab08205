#include "heed/model.h"

#include <algorithm>
#include <filesystem>

#include "heed/engine/loaded_model.h"
#include "heed/engine/system_errors.h"
#include "heed/hub.h"
#include "heed/model/check_input.h"
#include "heed/model/families/family.h"
#include "heed/text/utf8.h"

namespace heed {

Model::Model(std::shared_ptr<const engine::LoadedModel> loaded) : loaded_(std::move(loaded)) {}
Model::~Model() = default;

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  return engine::with_system_errors([&] {
    LoadOptions found = options;
    for (AdapterOptions& adapter : found.adapters) adapter = find_adapter(adapter, options.hub);
    HubOptions hub = options.hub;
    hub.weights = hub.weights && !options.random_weights;
    return Model(engine::load(resolve_model(path, hub), found));
  });
}

const engine::LoadedModel& engine::loaded(const Model& model) { return *model.loaded_; }

std::string Model::family() const {
  return std::string(model::family_for(loaded_->transformer->config()).model_type);
}

const LoadOptions& Model::load_options() const { return loaded_->options; }

std::shared_ptr<Executor> Model::executor() const { return loaded_->executor; }

bool Model::has_encoder() const { return loaded_->transformer->has_encoder(); }

bool Model::has_decoder() const { return loaded_->transformer->has_decoder(); }

int64_t Model::context_length() const {
  const model::ModelConfig& config = loaded_->transformer->config();
  return config.positions == model::PositionKind::none ? 0 : config.max_positions;
}

int64_t Model::vocab_size() const { return loaded_->transformer->config().vocab_size; }

int64_t Model::embedding_size(const EmbedOptions& options) const {
  const int64_t width = loaded_->transformer->config().d_model;
  if (!loaded_->embedding.has_value()) return width;
  const tasks::EmbedderOptions made = loaded_->embedder_options(options);
  return made.pooling.empty() && made.splade ? vocab_size() : made.width(width);
}

std::vector<int32_t> Model::eos_ids() const { return loaded_->generation.value().rules.eos_ids; }

std::optional<int64_t> Model::max_new_tokens() const {
  return loaded_->generation.value().max_new_tokens;
}

bool Model::has_tokenizer() const { return loaded_->tokenizer.has_value(); }

Tokenizer Model::tokenizer(std::string_view purpose) const {
  return text::wrapped(loaded_->shared_tokenizer(purpose));
}

const std::vector<std::string>& Model::warnings() const { return loaded_->warnings; }

std::vector<std::string> Model::prepare(const GenerateOptions& options) const {
  const StructuredOutput& output = options.structured_output;
  if (output == StructuredOutput()) return {};
  loaded_->generator_options(options);
  return loaded_->output_constraints.ignored(output);
}

std::string Model::gpu() const { return loaded_->device ? loaded_->device->name() : std::string(); }

std::vector<int32_t> Model::tokenize(std::string_view text, bool special) const {
  text::require_utf8(text, "the text");
  const text::ModelTokenizer& tokenizer = loaded_->tokenizer.value();
  if (const text::Tokenizer* shared = tokenizer.shared_tokenizer())
    return shared->encode(text, special);
  return tokenizer.encode_source(text);
}

std::string Model::detokenize(std::span<const int32_t> tokens, bool skip_special) const {
  const text::ModelTokenizer& tokenizer = loaded_->tokenizer.value();
  model::check_tokens(loaded_->transformer->config(), tokens);
  if (const text::Tokenizer* shared = tokenizer.shared_tokenizer())
    return shared->decode(tokens, skip_special);
  return tokenizer.decode_target(tokens);
}

std::string Model::token_text(int32_t token) const {
  const text::ModelTokenizer& tokenizer = loaded_->tokenizer.value();
  model::check_tokens(loaded_->transformer->config(), {&token, 1});
  return tokenizer.readable(token);
}

std::string Model::token_bytes(int32_t token) const {
  const text::ModelTokenizer& tokenizer = loaded_->tokenizer.value();
  model::check_tokens(loaded_->transformer->config(), {&token, 1});
  return tokenizer.token_bytes(token);
}

}  // namespace heed
