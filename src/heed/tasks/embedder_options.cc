#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/tasks/embedder.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPoolingFlag = "pooling_mode_";

/// The pooling that a file names: "pooling_mode", or else the flags of older files.
std::string pooling_mode(const Json& json, const std::string& file) {
  std::vector<std::string> modes;
  if (json.contains("pooling_mode") && !json["pooling_mode"].is_null()) {
    if (json["pooling_mode"].is_string()) return get<std::string>(json, "pooling_mode", file);
    modes = get<std::vector<std::string>>(json, "pooling_mode", file);
  } else {
    for (const auto& [key, value] : json.items())
      if (key.starts_with(kPoolingFlag) && get<bool>(json, key, file))
        modes.push_back(key.substr(kPoolingFlag.size()));
    if (modes.empty()) return "mean";
  }
  require(modes.size() == 1, "{}: {} pooling modes are set, expected one", file, modes.size());
  return modes.front();
}

void read_pooling(const std::filesystem::path& path, EmbedderOptions& options) {
  const std::string file = path.string();
  const Json json = read_object(path);
  for (const auto& [key, value] : json.items())
    if (!key.starts_with(kPoolingFlag) && key != "pooling_mode" && key != "include_prompt" &&
        key != "embedding_dimension" && key != "word_embedding_dimension" && !value.is_null())
      options.warnings.push_back(fmt::format("{}: {} is {} and is ignored: heed does not know it",
                                             file, one_line(key), excerpt(value)));
  options.include_prompt = get_or(json, "include_prompt", true, file);
  const std::string mode = pooling_mode(json, file);
  if (mode == "mean_tokens" || mode == "mean")
    options.pooling = Pooling::mean;
  else if (mode == "cls_token" || mode == "cls")
    options.pooling = Pooling::cls;
  else if (mode == "max_tokens" || mode == "max")
    options.pooling = Pooling::max;
  else if (mode == "lasttoken")
    options.pooling = Pooling::last;
  else
    fail("{}: the pooling mode is {}, expected mean_tokens, cls_token, max_tokens or lasttoken",
         file, one_line(mode));
}

/// The folder of a module. Throws Error unless it lies within the model's directory.
std::filesystem::path folder_of(const std::filesystem::path& model_path, const std::string& name,
                                const std::string& file) {
  const std::filesystem::path folder(name);
  bool inside = folder.is_relative();
  for (const std::filesystem::path& part : folder) inside = inside && part != "..";
  require(inside, "{}: the path of a module is {}, expected a path within the model directory",
          file, one_line(name));
  return model_path / folder;
}

/// A normalisation has settings only where it normalises something else.
void require_plain_normalize(const std::filesystem::path& path) {
  if (!path_exists(path)) return;
  const std::string file = path.string();
  const Json json = read_object(path);
  for (const auto& [key, value] : json.items())
    require(value.is_null() || value == "sentence_embedding",
            "{}: {} is {}, expected sentence_embedding", file, one_line(key), excerpt(value));
}

/// Reads the modules of a directory: a Transformer, a Pooling, and perhaps a Normalize.
void read_modules(const std::filesystem::path& model_path, EmbedderOptions& options) {
  const std::string file = (model_path / kModulesFile).string();
  const Json modules = parse_json(read_file(file), file);
  require(modules.is_array(), "{}: expected a list, found {}", file, excerpt(modules));
  int count = 0;
  for (const Json& module : modules) {
    const auto type = get<std::string>(module, "type", file);
    const std::string kind = type.substr(type.rfind('.') + 1);  // npos + 1 is 0
    const auto path = get_or<std::string>(module, "path", "", file);
    const auto folder = folder_of(model_path, path, file);
    const std::string_view expected = count == 0   ? "Transformer"
                                      : count == 1 ? "Pooling"
                                                   : "Normalize";
    require(type.starts_with("sentence_transformers.") && kind == expected,
            "{}: module {} is {}, expected sentence-transformers' {}", file, count + 1,
            one_line(type), expected);
    if (count == 0)
      require(path.empty() || path == ".",
              "{}: the path of the Transformer is {}, expected the model directory itself", file,
              one_line(path));
    if (count == 1) read_pooling(folder / "config.json", options);
    if (count >= 2) {
      require_plain_normalize(folder / "config.json");
      options.normalize = true;
    }
    ++count;
  }
  require(count >= 2, "{}: there are {} modules, expected a Transformer and a Pooling", file,
          count);
}

/// What sentence-transformers takes for a plain model: the last token's state of a causal language
/// model, else the mean.
Pooling default_pooling(const std::filesystem::path& model_path) {
  const std::filesystem::path path = model_path / "config.json";
  if (!path_exists(path)) return Pooling::mean;
  const Json json = parse_json(read_file(path), path.string());
  if (!json.is_object() || !json.contains("architectures")) return Pooling::mean;
  const Json& names = json["architectures"];
  const bool causal = names.is_array() && !names.empty() && names.front().is_string() &&
                      names.front().get<std::string>().ends_with("ForCausalLM");
  return causal && get_or(json, "is_causal", true, path.string()) ? Pooling::last : Pooling::mean;
}

constexpr std::pair<Pooling, uint32_t> kGgufPoolings[] = {
    {Pooling::mean, 1}, {Pooling::cls, 2}, {Pooling::last, 3}};

/// "pooling_type" of a GGUF file's architecture; mean where it has none.
Pooling read_gguf_pooling(const io::GgufFile& file) {
  const auto architecture = file.metadata().get<std::string>("general.architecture");
  const std::string key = architecture + ".pooling_type";
  const auto type = file.metadata().get_or<int64_t>(key, 0);  // 0: none
  if (type == 0) return Pooling::mean;
  for (const auto& [pooling, number] : kGgufPoolings)
    if (number == type) return pooling;
  fail("{}: {} is {}, expected 0 to 3: none, mean, cls or last", file.name(), key, type);
}

}  // namespace

std::optional<uint32_t> gguf_pooling_type(Pooling pooling) {
  for (const auto& [own, number] : kGgufPoolings)
    if (own == pooling) return number;
  return std::nullopt;
}

EmbedderOptions read_embedder_options(const io::ModelFiles& files, int64_t context) {
  const std::filesystem::path& model_path = files.path();
  EmbedderOptions options;
  if (files.is_gguf())
    options.pooling = read_gguf_pooling(*files.gguf());
  else if (path_exists(model_path / kModulesFile))
    read_modules(model_path, options);
  else
    options.pooling = default_pooling(model_path);
  const TextSettings text = read_text_settings(model_path, context);
  options.max_seq_length = text.limit.most;
  options.truncate_left = text.limit.truncate_left;
  options.lower_case = text.lower_case;
  const PromptSettings prompts = read_prompt_settings(model_path, "SentenceTransformer");
  options.prompt = prompts.prompt;
  options.prompts = prompts.prompts;
  options.truncate_dim = prompts.truncate_dim.value_or(0);
  for (const auto& warnings : {text.warnings, prompts.warnings})
    options.warnings.insert(options.warnings.end(), warnings.begin(), warnings.end());
  return options;
}

}  // namespace heed::tasks
