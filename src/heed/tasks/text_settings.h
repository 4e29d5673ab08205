#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/config.h"
#include "heed/tasks/text_tokens.h"

namespace heed::tasks {

inline constexpr const char* kModulesFile = "modules.json";
inline constexpr const char* kSentenceTransformersFile = "config_sentence_transformers.json";

/// How a model directory wants whole texts to be read: those that it embeds or classifies.
struct TextSettings {
  TokenLimit limit = {};
  bool lower_case = false;  // before a text is tokenized
  std::vector<std::string> warnings = {};
};

/// What sentence-transformers has a Transformer for ("transformer_task").
enum class TransformerTask {
  states,       // or the logits of a classifier
  mask_logits,  // "fill-mask", which SPLADE needs
  scores        // the same as states, or answers of a language model, "text-generation"
};

/// The length of the longest text that a model can read; 0: any length.
int64_t context_limit(const model::ModelConfig& config);

/// Reads model_max_length and truncation_side of tokenizer_config.json (and tokenizer.json), and in
/// a directory of sentence-transformers (with modules.json) the settings of its first module,
/// sentence_bert_config.json, whose max_seq_length comes first. A max_seq_length above `context`,
/// as context_limit() gives it, becomes it, with a warning. The file must name `task`. Throws
/// Error, naming file, key and value, on a setting that is malformed or that heed does not support.
TextSettings read_text_settings(const std::filesystem::path& model_path, int64_t context,
                                TransformerTask task = TransformerTask::states);

/// The settings of config_sentence_transformers.json, beside modules.json.
struct PromptSettings {
  bool present = false;     // there is such a file, of the wanted kind of model
  std::string kind = {};    // which of them ("SentenceTransformer")
  std::string prompt = {};  // the default prompt, before each text
  std::map<std::string, std::string> prompts = {};  // by name
  std::optional<int64_t> truncate_dim = {}, max_active_dims = {};
  std::string similarity = {};  // how sentence-transformers compares vectors: "cosine", "dot"
  std::vector<std::string> warnings = {};
};

/// Reads nothing without modules.json, as sentence-transformers does, and nothing from a file of
/// another kind of model than `kinds` ("SentenceTransformer"). Throws Error, naming file,
/// key and value, on a default prompt that has no text.
PromptSettings read_prompt_settings(const std::filesystem::path& model_path,
                                    std::initializer_list<std::string_view> kinds);

/// Whether an object has a member that is not null.
bool has_value(const nlohmann::json& json, const char* key);
/// The JSON object of a file. Throws Error, naming the file, when it is missing or no object.
nlohmann::json read_object(const std::filesystem::path& path);

/// Throws Error on a member of a settings file that is not among `known`, nor null.
void require_known(const nlohmann::json& json, const std::string& file,
                   std::initializer_list<std::string_view> known);

/// The settings of the first module of sentence-transformers, which had a name for each family
/// once.
std::filesystem::path transformer_settings_file(const std::filesystem::path& folder);

/// Adds a warning for each member of a settings file that is not among `known`.
void warn_of_unknown(const nlohmann::json& json, const std::string& file,
                     std::initializer_list<std::string_view> known,
                     std::vector<std::string>& warnings);

std::string lower_cased(const std::string& text);

}  // namespace heed::tasks
