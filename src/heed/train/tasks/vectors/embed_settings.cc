#include "heed/train/tasks/vectors/embed_settings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/modules/module_list.h"
#include "heed/tasks/modules/stanford_colbert.h"
#include "heed/tasks/text_settings.h"
#include "heed/train/config/embed_check.h"

namespace heed::train {
namespace {

using data::VectorKind;

constexpr const char* kProjectionFolder = "1_Dense";

VectorKind kind_of(const EmbedConfig& embed, const tasks::EmbedderOptions& options) {
  switch (embed.vectors) {
    case EmbedVectors::dense:
      return VectorKind::dense;
    case EmbedVectors::sparse:
      return VectorKind::sparse;
    case EmbedVectors::multi_vector:
      return VectorKind::multi_vector;
    case EmbedVectors::model:
      break;
  }
  return !options.pooling.empty() ? VectorKind::dense
         : options.splade         ? VectorKind::sparse
                                  : VectorKind::multi_vector;
}

/// A Dense module of files, to be written in `folder`. Throws Error on one that is not trained.
DenseModule read_dense(const tasks::ModuleEntry& module, std::string folder) {
  const std::filesystem::path path = module.folder / "config.json";
  const std::string file = path.string();
  const nlohmann::json json = tasks::read_object(path);
  require(!get_or(json, "use_residual", false, file),
          "{}: heed trains a Dense without use_residual", file);
  return {.folder = std::move(folder),
          .in = get<int64_t>(json, "in_features", file),
          .out = get<int64_t>(json, "out_features", file),
          .bias = get_or(json, "bias", true, file),
          .activation = get_or<std::string>(json, "activation_function",
                                            "torch.nn.modules.activation.Tanh", file),
          .start = module.folder};
}

/// The Dense modules between Pooling and Normalize.
std::vector<DenseModule> dense_of_texts(const std::filesystem::path& start,
                                        const tasks::EmbedderOptions& options) {
  const std::string file = (start / tasks::kModulesFile).string();
  require(options.of_tokens.empty(), "{}: there are modules before Pooling, and heed trains none",
          file);
  std::vector<DenseModule> found;
  bool normalized = false;
  for (const tasks::ModuleEntry& module : tasks::read_module_list(start)) {
    normalized |= module.kind == "Normalize";
    if (module.kind != "Dense") continue;
    require(!normalized, "{}: a Dense follows Normalize, and heed trains those before it", file);
    found.push_back(read_dense(module, fmt::format("{}_Dense", found.size() + 2)));
  }
  return found;
}

/// How dense vectors are made: `options` are those of the files at `start`, if there are any.
VectorOfText pooling_of(const EmbedConfig& embed, const model::ModelConfig& model,
                        const tasks::EmbedderOptions& options, const std::filesystem::path& start) {
  VectorOfText vector;
  vector.pooling = {model.encoder_layers > 0 ? Pooling::mean : Pooling::last};
  if (!start.empty() && !options.pooling.empty()) {
    vector.pooling = options.pooling;
    vector.normalized = options.normalizes();
    vector.dense = dense_of_texts(start, options);
  }
  if (!embed.pooling.empty()) vector.pooling = embed.pooling;
  const int64_t width = model.d_model * std::ssize(vector.pooling);
  require(vector.dense.empty() || vector.dense.front().in == width,
          "embed.pooling makes vectors of {} numbers, and the model's Dense reads {}", width,
          vector.dense.front().in);
  return vector;
}

void require_sparse(const std::string& from, const model::ModelConfig& model,
                    const tasks::EmbedderOptions& options) {
  require(model.encoder_layers > 0 && model.decoder_layers == 0 && model.has_head,
          "sparse vectors (SPLADE) come from an encoder with the head of a masked language model, "
          "which {} lacks: start from one (model.from; --task masked-lm trains one), or give a new "
          "model one (model.has_head=true)",
          from.empty() ? "the model" : from);
  const tasks::SpladeSettings splade = options.splade.value_or(tasks::SpladeSettings());
  require(!splade.sum && !splade.log_twice,
          "the model's SpladePooling has the settings {} and {}, and heed trains max and relu",
          splade.sum ? "sum" : "max", splade.log_twice ? "log1p_relu" : "relu");
}

/// The projection in the files of a MultiVectorEncoder. Throws Error on modules and settings that
/// heed does not train.
DenseModule known_projection(const std::filesystem::path& start,
                             const tasks::EmbedderOptions& options) {
  const std::string file = (start / tasks::kModulesFile).string();
  require(
      options.multi_vector->prefixes.empty(),
      "{}: the model has tokens before texts (query_prefix), as PyLate has them, which heed does "
      "not train",
      file);
  require(!options.of_tokens.empty() && options.of_tokens.back()->normalizes(),
          "{}: vectors of tokens are not normalised, and heed trains those that are", file);
  std::vector<DenseModule> found;
  for (const tasks::ModuleEntry& module : tasks::read_module_list(start))
    if (module.kind == "Dense") found.push_back(read_dense(module, kProjectionFolder));
  require(found.size() == 1, "{}: there are {} Dense modules, and heed trains one", file,
          found.size());
  require(functions_of(found).front() == data::DenseFunction::identity && !found.front().bias,
          "{}: heed trains a Dense of tokens with activation_function Identity and without bias",
          (found.front().start / "config.json").string());
  return found.front();
}

void set_multi_vector(const TrainConfig& config, int64_t d_model,
                      const std::filesystem::path& start, tasks::EmbedderOptions& options,
                      VectorOfText& vector) {
  const EmbedConfig& embed = config.embed;
  require(!config.lora.enabled,
          "lora trains an adapter, which cannot hold the projection to vectors of tokens");
  const bool known = options.multi_vector && options.pooling.empty();
  vector.dense = {
      known ? known_projection(start, options)
            : DenseModule{.folder = kProjectionFolder, .in = d_model, .out = embed.token_dims}};
  require(embed.token_dims == vector.width(d_model) || embed.token_dims == EmbedConfig().token_dims,
          "embed.token_dims is {}, the vectors of tokens of the model have {} numbers",
          embed.token_dims, vector.width(d_model));
  if (!known) options.multi_vector.emplace();
  tasks::MultiVectorSettings& settings = *options.multi_vector;
  if (embed.query_expansion > 0)
    settings.expansion =
        tasks::QueryExpansion{.length = embed.query_expansion, .token = std::string()};
  if (embed.skip_punctuation) settings.skiplist = tasks::punctuation_skiplist();
}

}  // namespace

std::vector<data::DenseFunction> functions_of(const std::vector<DenseModule>& modules) {
  using enum data::DenseFunction;
  constexpr std::array<std::pair<std::string_view, data::DenseFunction>, 5> kKnown{
      {{"Identity", identity}, {"Tanh", tanh}, {"ReLU", relu}, {"GELU", gelu}, {"SiLU", silu}}};
  std::vector<data::DenseFunction> functions;
  for (const DenseModule& module : modules) {
    const std::string_view name =
        std::string_view(module.activation).substr(module.activation.rfind('.') + 1);
    const auto known = std::ranges::find(kKnown, name, &decltype(kKnown)::value_type::first);
    require(known != kKnown.end(),
            "{}: activation_function is {}, and heed trains Identity, Tanh, ReLU, GELU and SiLU",
            (module.start / "config.json").string(), quoted(module.activation));
    functions.push_back(known->second);
  }
  return functions;
}

std::pair<tasks::EmbedderOptions, VectorOfText> embed_settings(const TrainConfig& config,
                                                               const model::ModelConfig& model,
                                                               const std::filesystem::path& start) {
  const EmbedConfig& embed = config.embed;
  require(
      !config.lora.enabled ||
          (embed.pooling.empty() && embed.query_prompt.empty() && embed.document_prompt.empty()),
      "lora trains an adapter, which runs with the pooling and the prompts of the model's files: "
      "embed.pooling is {}, embed.query_prompt {}, embed.document_prompt {}",
      names_of(embed.pooling), quoted(embed.query_prompt), quoted(embed.document_prompt));
  tasks::EmbedderOptions options;
  require(start.empty() || !tasks::is_stanford_colbert(start),
          "{}: heed does not train checkpoints of Stanford's ColBERT: save it with the "
          "MultiVectorEncoder of sentence-transformers first",
          start.string());
  const bool known = !start.empty() && path_exists(start / tasks::kModulesFile);
  if (known) {
    require_trained_modules(start);
    options = tasks::read_embedder_options(start, tasks::context_limit(model));
  }
  VectorOfText vector;
  vector.kind = kind_of(embed, options);
  check_embed_kind(embed, vector.kind);
  if (vector.kind == VectorKind::dense)
    vector = pooling_of(embed, model, options, known ? start : std::filesystem::path());
  if (vector.kind == VectorKind::sparse) require_sparse(config.from, model, options);
  if (vector.kind == VectorKind::multi_vector)
    set_multi_vector(config, model.d_model, start, options, vector);
  for (const auto& [name, prompt] :
       {std::pair{"query", &embed.query_prompt}, {"document", &embed.document_prompt}})
    if (!prompt->empty()) options.prompts[name] = *prompt;
  const int64_t window = config.window_tokens(), most = options.max_seq_length;
  options.max_seq_length = most == 0 ? window : std::min(most, window);
  return {std::move(options), vector};
}

}  // namespace heed::train
