#include "heed/train/tasks/vectors/embed_files.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/tasks/modules/module_list.h"
#include "heed/tasks/text_settings.h"

namespace heed::train {
namespace {

using Json = nlohmann::ordered_json;

std::string file_text(const Json& json) { return dump_json(json, {.indent = 2}) + "\n"; }

Json module(int index, const std::string& path, const char* type) {
  return {{"idx", index},
          {"name", std::to_string(index)},
          {"path", path},
          {"type", fmt::format("sentence_transformers.{}", type)}};
}

/// With the flags, or, for poolings that follow one another in another order, with their modes.
Json pooling_settings(const std::vector<Pooling>& poolings, bool include_prompt, int64_t d_model) {
  using tasks::PoolingNames;
  Json settings = {{"word_embedding_dimension", d_model}, {"include_prompt", include_prompt}};
  Json flags = Json::object(), modes = Json::array();
  std::vector<Pooling> of_flags;
  for (const auto& [flag, mode, pooling] : tasks::kPoolingNames) {
    const bool has = std::ranges::find(poolings, pooling) != poolings.end();
    flags[std::string(flag)] = has;
    if (has) of_flags.push_back(pooling);
  }
  if (of_flags == poolings) {
    settings.update(flags);
    return settings;
  }
  for (const Pooling pooling : poolings)
    modes.push_back(std::ranges::find(tasks::kPoolingNames, pooling, &PoolingNames::pooling)->mode);
  settings["pooling_mode"] = modes;
  return settings;
}

/// The Transformer's settings. SPLADE reads the logits of the head for masked tokens.
Json text_settings(const tasks::EmbedderOptions& options, data::VectorKind kind) {
  Json settings = {{"max_seq_length", options.max_seq_length},
                   {"do_lower_case", options.lower_case}};
  if (kind == data::VectorKind::dense) return settings;
  const bool sparse = kind == data::VectorKind::sparse;
  settings["transformer_task"] = sparse ? "fill-mask" : "feature-extraction";
  settings["modality_config"] = {
      {"text",
       {{"method", "forward"}, {"method_output_name", sparse ? "logits" : "last_hidden_state"}}}};
  settings["module_output_name"] = "token_embeddings";
  if (sparse) return settings;
  const tasks::MultiVectorSettings& tokens = *options.multi_vector;
  if (tokens.query_length) settings["query_length"] = *tokens.query_length;
  if (tokens.document_length) settings["document_length"] = *tokens.document_length;
  if (const auto& expansion = tokens.expansion)
    settings["query_expansion"] = {
        {"strategy", expansion->fixed ? "fixed" : "min"},
        {"attend", expansion->attend},
        {"token", expansion->token.empty() ? Json() : Json(expansion->token)},
        {"length", expansion->length}};
  return settings;
}

Json dense_settings(const DenseModule& module) {
  return {{"in_features", module.in},
          {"out_features", module.out},
          {"bias", module.bias},
          {"activation_function", module.activation}};
}

Json mask_settings(const tasks::MultiVectorSettings& tokens) {
  Json tasks = Json::array();
  if (tokens.skips_in_queries) tasks.push_back("query");
  if (tokens.skips_in_documents) tasks.push_back("document");
  return {{"skiplist_words", tokens.skiplist}, {"skiplist_tasks", tasks}};
}

/// How vectors are compared: dense ones as those of the model to start from.
std::string similarity_of(const tasks::EmbedderOptions& options, data::VectorKind kind) {
  if (kind == data::VectorKind::sparse) return "dot";
  if (kind == data::VectorKind::multi_vector) return "maxsim";
  constexpr std::array kOthers{"dot", "euclidean", "manhattan"};
  return std::ranges::find(kOthers, options.similarity) != kOthers.end() ? options.similarity
                                                                         : "cosine";
}

/// config_sentence_transformers.json.
Json model_settings(const tasks::EmbedderOptions& options, data::VectorKind kind) {
  using data::VectorKind;
  Json prompts = Json::object(), default_name = nullptr;
  for (const auto& [name, prompt] : options.prompts) {
    prompts[name] = prompt;
    if (!options.prompt.empty() && prompt == options.prompt) default_name = name;
  }
  Json config = {{"model_type", kind == VectorKind::sparse         ? "SparseEncoder"
                                : kind == VectorKind::multi_vector ? "MultiVectorEncoder"
                                                                   : "SentenceTransformer"},
                 {"prompts", prompts},
                 {"default_prompt_name", default_name},
                 {"similarity_fn_name", similarity_of(options, kind)}};
  if (options.truncate_dim > 0) config["truncate_dim"] = options.truncate_dim;
  if (options.max_active_dims) config["max_active_dims"] = *options.max_active_dims;
  return config;
}

}  // namespace

std::string names_of(const std::vector<Pooling>& poolings) {
  std::string names;
  for (const Pooling pooling : poolings)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(pooling));
  return names;
}

std::vector<checkpoint::NamedFile> embedder_files(const tasks::EmbedderOptions& options,
                                                  const VectorOfText& vector,
                                                  const model::ModelConfig& model) {
  Json modules = Json::array();
  std::vector<checkpoint::NamedFile> files;
  const auto add = [&](const char* type, const std::string& folder, const Json& settings) {
    modules.push_back(module(static_cast<int>(modules.size()), folder, type));
    if (!settings.is_null()) files.emplace_back(folder + "/config.json", file_text(settings));
  };
  if (vector.kind == data::VectorKind::sparse) {
    add("base.modules.transformer.Transformer", "", nullptr);
    add("sparse_encoder.modules.splade_pooling.SpladePooling", "1_SpladePooling",
        {{"pooling_strategy", "max"},
         {"activation_function", "relu"},
         {"embedding_dimension", model.vocab_size}});
  } else if (vector.kind == data::VectorKind::multi_vector) {
    const Json of_tokens = {{"module_input_name", "token_embeddings"},
                            {"module_output_name", "token_embeddings"}};
    Json projection = dense_settings(vector.dense.front());
    projection.update(of_tokens);
    add("base.modules.transformer.Transformer", "", nullptr);
    add("base.modules.dense.Dense", vector.dense.front().folder, projection);
    add("multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask", "2_MultiVectorMask",
        mask_settings(*options.multi_vector));
    add("base.modules.normalize.Normalize", "3_Normalize", of_tokens);
  } else {
    add("models.Transformer", "", nullptr);
    add("models.Pooling", "1_Pooling",
        pooling_settings(vector.pooling, options.include_prompt, model.d_model));
    for (const DenseModule& dense : vector.dense)
      add("models.Dense", dense.folder, dense_settings(dense));
    if (vector.normalized)
      add("models.Normalize", fmt::format("{}_Normalize", modules.size()), nullptr);
  }
  files.emplace_back(tasks::kModulesFile, file_text(modules));
  files.emplace_back("sentence_bert_config.json", file_text(text_settings(options, vector.kind)));
  files.emplace_back(tasks::kSentenceTransformersFile,
                     file_text(model_settings(options, vector.kind)));
  return files;
}
void require_trained_modules(const std::filesystem::path& model_path) {
  const bool tokens =
      tasks::read_prompt_settings(model_path, {"MultiVectorEncoder", "ColBERT"}).present;
  const std::vector<std::string_view> known =
      tokens ? std::vector<std::string_view>{"Transformer", "Dense", "MultiVectorMask", "Normalize"}
             : std::vector<std::string_view>{"Transformer",   "MLMTransformer", "Pooling",
                                             "SpladePooling", "Dense",          "Normalize"};
  for (const tasks::ModuleEntry& module : tasks::read_module_list(model_path))
    require(std::ranges::find(known, module.kind) != known.end(),
            "{}: heed trains models of {}, not the module {}",
            (model_path / tasks::kModulesFile).string(), fmt::join(known, ", "),
            one_line(module.type));
}

}  // namespace heed::train
