#include "heed/tasks/logit_score.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using ScoreJson = nlohmann::json;

/// The class of a module: the end of its dotted name.
std::string class_of_module(const ScoreJson& module, const std::string& file) {
  require(module.is_object(), "{}: a module is {}, expected an object", file, excerpt(module));
  const auto type = get<std::string>(module, "type", file);
  return type.substr(type.rfind('.') + 1);
}

int32_t token_at(const ScoreJson& json, const char* key, const std::string& file, int64_t vocab) {
  const auto found = json.find(key);
  require(found != json.end(), "{}: {} is missing", file, key);
  return static_cast<int32_t>(integer_of(*found, key, file, 0, vocab - 1));
}

/// Variables of the chat template, from the settings of the Transformer.
void read_template_settings(const std::filesystem::path& folder, LogitScore& score) {
  const std::filesystem::path path = folder / "sentence_bert_config.json";
  if (!path_exists(path)) return;
  const std::string file = path.string();
  const ScoreJson json = read_object(path);
  const auto task = get_or<std::string>(json, "transformer_task", "text-generation", file);
  require(task == "text-generation", "{}: transformer_task is {}, expected text-generation", file,
          quoted(task));
  const ScoreJson settings = json.value("processing_kwargs", ScoreJson());
  if (settings.is_null()) return;
  require(settings.is_object(), "{}: processing_kwargs is {}, expected an object", file,
          excerpt(settings));
  for (const auto& [key, value] : settings.items())
    require(key == "chat_template" || value.is_null() || value.empty(),
            "{}: processing_kwargs.{} is {}, which heed does not support", file, one_line(key),
            excerpt(value));
  ScoreJson variables = settings.value("chat_template", ScoreJson::object());
  require(variables.is_object(), "{}: processing_kwargs.chat_template is {}, expected an object",
          file, excerpt(variables));
  score.add_generation_prompt = get_or(variables, "add_generation_prompt", false, file);
  for (const char* const own : {"add_generation_prompt", "restore_suffix"}) variables.erase(own);
  for (const char* const key : {"truncation", "max_length", "padding", "continue_final_message"})
    require(!variables.contains(key),
            "{}: processing_kwargs.chat_template.{} is {}, which heed does not support", file, key,
            excerpt(variables.value(key, ScoreJson())));
  if (!variables.empty()) score.chat_template_kwargs = dump_json(variables);
}

}  // namespace

std::optional<LogitScore> read_logit_score(const std::filesystem::path& model_path,
                                           int64_t vocab_size) {
  const std::filesystem::path path = model_path / kModulesFile;
  if (path_is_file(model_path) || !path_exists(path)) return std::nullopt;
  const std::string file = path.string();
  const ScoreJson modules = parse_json(read_file(path), file);
  require(modules.is_array(), "{}: expected a list of modules, found {}", file, excerpt(modules));
  const auto is_score = [&](const ScoreJson& module) {
    return class_of_module(module, file) == "LogitScore";
  };
  const auto own = std::ranges::find_if(modules, is_score);
  if (own == modules.end()) return std::nullopt;
  require(modules.size() == 2 && own == modules.begin() + 1 &&
              class_of_module(modules[0], file) == "Transformer" &&
              get_or<std::string>(modules[0], "path", "", file).empty(),
          "{}: heed supports LogitScore only after a Transformer in the model's own directory, "
          "without other modules",
          file);
  const auto folder = get_or<std::string>(*own, "path", "", file);
  require(!folder.empty() && folder.find('/') == folder.npos && folder != "..",
          "{}: the path of LogitScore is {}, expected the name of a folder", file, quoted(folder));
  const std::filesystem::path config = model_path / folder / "config.json";
  const ScoreJson json = read_object(config);
  const auto input =
      get_or<std::string>(json, "module_input_name", "causal_logits", config.string());
  require(input == "causal_logits", "{}: module_input_name is {}, expected \"causal_logits\"",
          config.string(), quoted(input));
  LogitScore score{.true_token = token_at(json, "true_token_id", config.string(), vocab_size)};
  if (has_value(json, "false_token_id"))
    score.false_token = token_at(json, "false_token_id", config.string(), vocab_size);
  read_template_settings(model_path, score);
  return score;
}

}  // namespace heed::tasks
