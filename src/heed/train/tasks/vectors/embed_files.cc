#include "heed/train/tasks/vectors/embed_files.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/tasks/text_settings.h"

namespace heed::train {
namespace {

using Json = nlohmann::ordered_json;

std::string file_text(const Json& json) { return dump_json(json, {.indent = 2}) + "\n"; }

Json module(int index, const char* path, const char* type) {
  return {{"idx", index},
          {"name", std::to_string(index)},
          {"path", path},
          {"type", fmt::format("sentence_transformers.models.{}", type)}};
}

Json pooling_settings(Pooling pooling, bool include_prompt, int64_t d_model) {
  return {{"word_embedding_dimension", d_model},
          {"pooling_mode_cls_token", pooling == Pooling::cls},
          {"pooling_mode_mean_tokens", pooling == Pooling::mean},
          {"pooling_mode_max_tokens", false},
          {"pooling_mode_mean_sqrt_len_tokens", false},
          {"pooling_mode_weightedmean_tokens", false},
          {"pooling_mode_lasttoken", pooling == Pooling::last},
          {"include_prompt", include_prompt}};
}

}  // namespace

std::vector<checkpoint::NamedFile> embedder_files(const tasks::EmbedderOptions& options,
                                                  VectorOfText vector, int64_t d_model) {
  Json modules = {module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling")};
  if (vector.normalized) modules.push_back(module(2, "2_Normalize", "Normalize"));
  Json prompts = Json::object(), default_name = nullptr;
  for (const auto& [name, prompt] : options.prompts) {
    prompts[name] = prompt;
    if (!options.prompt.empty() && prompt == options.prompt) default_name = name;
  }
  Json config = {{"model_type", "SentenceTransformer"},
                 {"prompts", prompts},
                 {"default_prompt_name", default_name},
                 {"similarity_fn_name", "cosine"}};
  if (options.truncate_dim > 0) config["truncate_dim"] = options.truncate_dim;
  const Json text = {{"max_seq_length", options.max_seq_length},
                     {"do_lower_case", options.lower_case}};
  return {{tasks::kModulesFile, file_text(modules)},
          {"1_Pooling/config.json",
           file_text(pooling_settings(vector.pooling, options.include_prompt, d_model))},
          {"sentence_bert_config.json", file_text(text)},
          {tasks::kSentenceTransformersFile, file_text(config)}};
}

void require_trained_modules(const std::filesystem::path& model_path) {
  const std::string file = (model_path / tasks::kModulesFile).string();
  const nlohmann::json modules = parse_json(read_file(file), file);
  for (const nlohmann::json& module : modules) {
    const auto type = get<std::string>(module, "type", file);
    const std::string kind = type.substr(type.rfind('.') + 1);  // npos + 1 is 0
    require(kind == "Transformer" || kind == "Pooling" || kind == "Normalize",
            "{}: heed trains a Transformer with a Pooling and a Normalize, not the module {}", file,
            one_line(type));
  }
}

}  // namespace heed::train
