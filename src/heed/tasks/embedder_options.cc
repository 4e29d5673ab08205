#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/embedder.h"
#include "heed/tasks/modules/module_list.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using Json = nlohmann::json;

/// The flags of older files, in the order in which poolings are concatenated, and their names.
constexpr std::pair<std::string_view, std::string_view> kPoolingFlags[] = {
    {"pooling_mode_cls_token", "cls"},
    {"pooling_mode_max_tokens", "max"},
    {"pooling_mode_mean_tokens", "mean"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
    {"pooling_mode_weightedmean_tokens", "weightedmean"},
    {"pooling_mode_lasttoken", "lasttoken"}};

/// What sentence-transformers calls a pooling.
constexpr std::pair<std::string_view, Pooling> kPoolingModes[] = {
    {"cls", Pooling::cls},
    {"max", Pooling::max},
    {"mean", Pooling::mean},
    {"mean_sqrt_len_tokens", Pooling::mean_sqrt_len_tokens},
    {"weightedmean", Pooling::weightedmean},
    {"lasttoken", Pooling::last}};

/// The poolings that a file names: "pooling_mode", or else the flags of older files.
std::vector<std::string> pooling_modes(const Json& json, const std::string& file) {
  if (json.contains("pooling_mode") && !json["pooling_mode"].is_null()) {
    if (json["pooling_mode"].is_string()) return {get<std::string>(json, "pooling_mode", file)};
    return get<std::vector<std::string>>(json, "pooling_mode", file);
  }
  std::vector<std::string> modes;
  for (const auto& [flag, mode] : kPoolingFlags)
    if (get_or(json, flag, false, file)) modes.emplace_back(mode);
  if (modes.empty()) modes.emplace_back("mean");
  return modes;
}

Pooling pooling_named(const std::string& mode, const std::string& file) {
  std::string known;
  for (const auto& [name, pooling] : kPoolingModes) {
    if (mode == name) return pooling;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  fail("{}: a pooling mode is {}, expected one of {}", file, quoted(mode), known);
}

void read_pooling(const std::filesystem::path& path, EmbedderOptions& options) {
  const std::string file = path.string();
  const Json json = read_object(path);
  for (const auto& [key, value] : json.items()) {
    const bool flag = std::ranges::find(kPoolingFlags, key,
                                        &std::pair<std::string_view, std::string_view>::first) !=
                      std::end(kPoolingFlags);
    require(flag || !key.starts_with("pooling_mode_"), "{}: {} is no pooling that heed applies",
            file, quoted(key));
    if (!flag && key != "pooling_mode" && key != "include_prompt" && key != "embedding_dimension" &&
        key != "word_embedding_dimension" && !value.is_null())
      options.warnings.push_back(fmt::format("{}: {} is {} and is ignored: heed does not know it",
                                             file, one_line(key), excerpt(value)));
  }
  options.include_prompt = get_or(json, "include_prompt", true, file);
  options.pooling.clear();
  for (const std::string& mode : pooling_modes(json, file))
    options.pooling.push_back(pooling_named(mode, file));
  require(!options.pooling.empty(), "{}: pooling_mode has no modes", file);
}

/// Reads the modules of a directory: a Transformer, a Pooling, and others before and after it.
void read_modules(const std::filesystem::path& model_path, EmbedderOptions& options) {
  const std::string file = (model_path / kModulesFile).string();
  bool pools = false;
  for (const ModuleEntry& entry : read_module_list(model_path)) {
    if (entry.kind == "Pooling") {
      require(!pools, "{}: there are two Pooling modules, expected one", file);
      pools = true;
      read_pooling(entry.folder / "config.json", options);
      continue;
    }
    if (!is_vector_module(entry.kind)) refuse_module(model_path, entry);
    const ReadModule read = read_vector_module(entry.kind, entry.folder);
    if (!read.module) continue;
    require(read.of_tokens != pools,
            "{}: the module {} reads {}, which are of no effect {} Pooling", file,
            one_line(entry.kind), read.of_tokens ? "token_embeddings" : "sentence_embedding",
            pools ? "after" : "before");
    (read.of_tokens ? options.of_tokens : options.of_texts).push_back(read.module);
  }
  require(pools, "{}: there is no Pooling, which makes one vector of a text", file);
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
    options.pooling = {read_gguf_pooling(*files.gguf())};
  else if (path_exists(model_path / kModulesFile))
    read_modules(model_path, options);
  else
    options.pooling = {default_pooling(model_path)};
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
