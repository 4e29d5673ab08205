#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/embedder_options.h"
#include "heed/tasks/modules/module_list.h"
#include "heed/tasks/modules/stanford_colbert.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using Json = nlohmann::json;

/// The poolings that a file names: "pooling_mode", or else the flags of older files.
std::vector<std::string> pooling_modes(const Json& json, const std::string& file) {
  if (has_value(json, "pooling_mode")) {
    if (json["pooling_mode"].is_string()) return {get<std::string>(json, "pooling_mode", file)};
    return get<std::vector<std::string>>(json, "pooling_mode", file);
  }
  std::vector<std::string> modes;
  for (const PoolingNames& names : kPoolingNames)
    if (get_or(json, names.flag, false, file)) modes.emplace_back(names.mode);
  if (modes.empty()) modes.emplace_back("mean");
  return modes;
}

Pooling pooling_named(const std::string& mode, const std::string& file) {
  std::string known;
  for (const PoolingNames& names : kPoolingNames) {
    if (mode == names.mode) return names.pooling;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", names.mode);
  }
  fail("{}: a pooling mode is {}, expected one of {}", file, quoted(mode), known);
}

void read_pooling(const std::filesystem::path& path, EmbedderOptions& options) {
  const std::string file = path.string();
  const Json json = read_object(path);
  for (const auto& [key, value] : json.items()) {
    const bool flag =
        std::ranges::find(kPoolingNames, key, &PoolingNames::flag) != std::end(kPoolingNames);
    require(flag || !key.starts_with("pooling_mode_"), "{}: {} is no pooling that heed applies",
            file, quoted(key));
    require(flag || key == "pooling_mode" || key == "include_prompt" ||
                key == "embedding_dimension" || key == "word_embedding_dimension" ||
                value.is_null(),
            "{}: {} is {}, a setting of Pooling that heed does not know", file, one_line(key),
            excerpt(value));
  }
  options.include_prompt = get_or(json, "include_prompt", true, file);
  options.pooling.clear();
  for (const std::string& mode : pooling_modes(json, file))
    options.pooling.push_back(pooling_named(mode, file));
  require(!options.pooling.empty(), "{}: pooling_mode has no modes", file);
}

/// Reads the modules of a directory after the Transformer, in their order: those of tokens, what
/// makes vectors of a text (Pooling, SpladePooling, or for several vectors MultiVectorMask), and
/// those of such a vector.
class ModulesReader {
 public:
  ModulesReader(std::filesystem::path model_path, bool multi_vector, EmbedderOptions& options)
      : model_path_(std::move(model_path)),
        file_((model_path_ / kModulesFile).string()),
        multi_vector_(multi_vector),
        options_(options) {}

  void read() {
    options_.pooling.clear();
    const std::vector<ModuleEntry> modules = read_module_list(model_path_);
    for (size_t i = 1; i < modules.size(); ++i) read(modules[i]);
    if (multi_vector_) {
      options_.multi_vector = read_multi_vector_settings(model_path_, mask_);
      // PyLate scales vectors without a module that says so.
      if (mask_.empty()) options_.of_tokens.push_back(normalize_module());
    }
    require(multi_vector_ || pools_, "{}: there is no Pooling, which makes one vector of a text",
            file_);
    const bool masks = modules[0].kind == "MLMTransformer";
    require(!masks || options_.splade, "{}: MLMTransformer is not followed by SpladePooling",
            file_);
  }

 private:
  void read(const ModuleEntry& entry) {
    if (entry.kind == "Pooling" || entry.kind == "SpladePooling") return read_pooling_module(entry);
    if (entry.kind == "MultiVectorMask" && multi_vector_) {
      mask_ = entry.folder;
      return;
    }
    if (!is_vector_module(entry.kind)) refuse_module(model_path_, entry);
    const ReadModule read = read_vector_module(entry.kind, entry.folder, multi_vector_);
    if (!read.module) return;
    require(read.of_tokens != pools_,
            "{}: the module {} reads {}, which are of no effect {} Pooling", file_,
            one_line(entry.kind), read.of_tokens ? "token_embeddings" : "sentence_embedding",
            pools_ ? "after" : "before");
    require(!options_.splade, "{}: the module {} follows SpladePooling, which heed does not apply",
            file_, one_line(entry.kind));
    (read.of_tokens ? options_.of_tokens : options_.of_texts).push_back(read.module);
  }

  void read_pooling_module(const ModuleEntry& entry) {
    require(!pools_ && !multi_vector_, "{}: the module {} is one too many", file_,
            one_line(entry.kind));
    pools_ = true;
    if (entry.kind == "Pooling") return read_pooling(entry.folder / "config.json", options_);
    require(options_.of_tokens.empty(), "{}: there are modules before SpladePooling", file_);
    options_.splade = read_splade_settings(entry.folder);
  }

  const std::filesystem::path model_path_;
  const std::string file_;
  const bool multi_vector_;
  EmbedderOptions& options_;
  bool pools_ = false;
  std::filesystem::path mask_;  // the folder of a MultiVectorMask
};

/// The heads of BGE-M3 (Chen et al. 2024), which lie beside the files of sentence-transformers.
void read_bge_m3_heads(const std::filesystem::path& model_path, EmbedderOptions& options) {
  const std::filesystem::path lexical = model_path / kLexicalHeadFile,
                              colbert = model_path / kColbertHeadFile;
  if (path_exists(lexical)) options.lexical = read_linear_file(lexical, true);
  if (!path_exists(colbert)) return;
  options.multi_vector.emplace().first_token = 1;
  options.multi_vector_modules = {read_linear_file(colbert, false), normalize_module()};
}

/// Throws Error on lengths and an expansion of queries, which heed has for vectors of tokens alone.
void require_no_task_settings(const std::filesystem::path& model_path) {
  const std::filesystem::path path = transformer_settings_file(model_path);
  if (!path_exists(model_path / kModulesFile) || !path_exists(path)) return;
  const Json json = read_object(path);
  for (const char* const key : {"query_length", "document_length", "query_expansion"})
    if (has_value(json, key))
      fail("{}: {} is {}, which heed applies to models with a vector for each token alone",
           path.string(), key, excerpt(json[key]));
}

Json read_config(const std::filesystem::path& model_path) {
  const std::filesystem::path path = model_path / "config.json";
  return path_exists(path) ? parse_json(read_file(path), path.string()) : Json();
}

/// The class that config.json names; empty if it names none.
std::string class_of(const Json& config) {
  if (!config.is_object() || !config.contains("architectures")) return "";
  const Json& names = config["architectures"];
  const bool named = names.is_array() && !names.empty() && names.front().is_string();
  return named ? names.front().get<std::string>() : "";
}

/// What sentence-transformers takes for a plain model: the last token's state of a causal language
/// model, else the mean.
Pooling default_pooling(const std::filesystem::path& model_path, const Json& config) {
  return class_of(config).ends_with("ForCausalLM") &&
                 get_or(config, "is_causal", true, (model_path / "config.json").string())
             ? Pooling::last
             : Pooling::mean;
}

/// A directory without modules.json.
void read_plain_model(const std::filesystem::path& model_path, EmbedderOptions& options) {
  const Json config = read_config(model_path);
  require(
      class_of(config) != "HF_ColBERT",
      "{}: config.json names HF_ColBERT, whose settings artifact.metadata has, and it is missing",
      model_path.string());
  options.pooling = {default_pooling(model_path, config)};
  if (class_of(config).ends_with("ForMaskedLM")) options.splade = SpladeSettings();
  read_bge_m3_heads(model_path, options);
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
  PromptSettings prompts = read_prompt_settings(
      model_path, {"SentenceTransformer", "SparseEncoder", "MultiVectorEncoder", "ColBERT"});
  EmbedderOptions options;
  if (files.is_gguf()) {
    options.pooling = {read_gguf_pooling(*files.gguf())};
  } else if (path_exists(model_path / kModulesFile)) {
    const bool multi_vector = prompts.kind == "MultiVectorEncoder" || prompts.kind == "ColBERT";
    ModulesReader(model_path, multi_vector, options).read();
    if (!multi_vector) read_bge_m3_heads(model_path, options);
  } else if (is_stanford_colbert(model_path)) {
    StanfordColbert colbert = read_stanford_colbert(model_path);
    options.pooling.clear();
    options.of_tokens = std::move(colbert.modules);
    options.multi_vector = std::move(colbert.settings);
    prompts.prompts = std::move(colbert.prompts);
  } else {
    read_plain_model(model_path, options);
  }
  const TextSettings text =
      read_text_settings(model_path, context,
                         options.pooling.empty() && options.splade ? TransformerTask::mask_logits
                                                                   : TransformerTask::states);
  if (!options.multi_vector) require_no_task_settings(model_path);
  options.max_seq_length = text.limit.most;
  options.truncate_left = text.limit.truncate_left;
  options.lower_case = text.lower_case;
  options.prompt = prompts.prompt;
  options.prompts = prompts.prompts;
  options.truncate_dim = prompts.truncate_dim.value_or(0);
  options.max_active_dims = prompts.max_active_dims;
  options.similarity = prompts.similarity;
  for (const auto& warnings : {text.warnings, prompts.warnings})
    options.warnings.insert(options.warnings.end(), warnings.begin(), warnings.end());
  return options;
}

}  // namespace heed::tasks
