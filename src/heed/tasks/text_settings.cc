#include "heed/tasks/text_settings.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::tasks {
namespace {

using SettingsJson = nlohmann::json;

/// The object of a file; null if there is no file.
SettingsJson read_object_if_exists(const std::filesystem::path& path) {
  return path_exists(path) ? read_object(path) : nullptr;
}

/// A number of tokens; none where the field is missing, null, or larger than any text: "no limit"
/// is 1e30 there.
std::optional<int64_t> read_length(const SettingsJson& json, const char* key,
                                   const std::string& file) {
  constexpr double kNoLimit = 1e15;
  if (!has_value(json, key)) return std::nullopt;
  const SettingsJson& value = json[key];
  require(value.is_number() && value.get<double>() >= 1, "{}: {} is {}, expected a positive number",
          file, key, excerpt(value));
  if (value.get<double>() >= kNoLimit) return std::nullopt;
  return static_cast<int64_t>(value.get<double>());
}

void set_side(const std::string& side, const char* key, const std::string& file,
              TextSettings& settings) {
  const std::string lower = lower_cased(side);
  require(lower == "left" || lower == "right", "{}: {} is {}, expected left or right", file, key,
          quoted(side));
  settings.limit.truncate_left = lower == "left";
}

void read_side(const SettingsJson& json, const char* key, const std::string& file,
               TextSettings& settings) {
  if (has_value(json, key)) set_side(get<std::string>(json, key, file), key, file, settings);
}

/// Finds truncation.direction in a tokenizer.json, which has it before the long lists.
class DirectionFinder : public nlohmann::json_sax<SettingsJson> {
 public:
  std::string direction;

  bool key(std::string& name) override {
    if (depth_ == 1) outer_ = name;
    inner_ = depth_ == 2 ? name : "";
    return outer_ != "added_tokens" && outer_ != "model";
  }
  bool string(std::string& value) override {
    const bool found = depth_ == 2 && outer_ == "truncation" && inner_ == "direction";
    if (found) direction = value;
    return !found;
  }
  bool start_object(size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(size_t) override { return ++depth_ <= kMaxDepth; }
  bool end_array() override { return --depth_ > 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;  // the tokenizer's reader names it
  }

 private:
  static constexpr int kMaxDepth = 64;
  int depth_ = 0;
  std::string outer_, inner_;
};

void read_tokenizer_settings(const std::filesystem::path& folder, TextSettings& settings) {
  const std::filesystem::path json_path = folder / "tokenizer.json",
                              path = folder / "tokenizer_config.json";
  const SettingsJson config = read_object_if_exists(path);
  if (!config.is_null()) {
    const char* const key = config.contains("model_max_length") ? "model_max_length" : "max_len";
    settings.limit.most = read_length(config, key, path.string()).value_or(0);
    if (has_value(config, "truncation_side"))
      return read_side(config, "truncation_side", path.string(), settings);
  }
  std::ifstream file(json_path);
  DirectionFinder finder;
  SettingsJson::sax_parse(file, &finder);
  if (!finder.direction.empty())
    set_side(finder.direction, "truncation.direction", json_path.string(), settings);
}

/// Throws Error on a member of an object of the file that is neither in `known` nor null.
void require_only(const SettingsJson& json, const char* key, const std::string& file,
                  std::initializer_list<std::string_view> known) {
  if (!has_value(json, key)) return;
  require(json[key].is_object(), "{}: {} is {}, expected an object", file, key, excerpt(json[key]));
  for (const auto& [name, value] : json[key].items())
    require(std::ranges::find(known, name) != known.end() || value.is_null(),
            "{}: {}.{} is {}, which heed does not support", file, key, one_line(name),
            excerpt(value));
}

/// Settings that give another text, or take something else than states from the model.
void require_plain_text(const SettingsJson& json, const std::string& file, TransformerTask wanted) {
  const bool masks = wanted == TransformerTask::mask_logits;
  const auto task = get_or<std::string>(json, "transformer_task",
                                        masks ? "fill-mask" : "feature-extraction", file);
  // read_logit_score() reads the rest then.
  const bool answers = wanted == TransformerTask::scores && task == "text-generation";
  require(masks ? task == "fill-mask"
                : answers || task == "feature-extraction" || task == "sequence-classification",
          "{}: transformer_task is {}, expected {}", file, quoted(task),
          masks ? "fill-mask" : "feature-extraction or sequence-classification");
  if (!answers) require_only(json, "processing_kwargs", file, {});
  require_only(json, "modality_config", file,
               {"text", answers ? "message" : "text", "image", "audio", "video", "image+text"});
  for (const char* const key : {"model_args", "model_kwargs"})
    require_only(json, key, file,
                 {"torch_dtype", "dtype", "attn_implementation", "device_map", "low_cpu_mem_usage",
                  "use_safetensors", "add_pooling_layer", "trust_remote_code"});
  for (const char* const key : {"config_args", "config_kwargs"})
    require_only(json, key, file, {"use_cache", "trust_remote_code"});
  for (const char* const key : {"tokenizer_args", "processor_kwargs"})
    require_only(
        json, key, file,
        {"model_max_length", "truncation_side", "padding_side", "use_fast", "trust_remote_code"});
}

void read_module_settings(const std::filesystem::path& folder, TransformerTask task,
                          TextSettings& settings) {
  const std::filesystem::path path = transformer_settings_file(folder);
  const std::string file = path.string();
  const SettingsJson json = read_object_if_exists(path);
  if (json.is_null()) return;
  require_plain_text(json, file, task);
  warn_of_unknown(
      json, file,
      {"max_seq_length", "do_lower_case", "transformer_task", "modality_config",
       "module_output_name", "processing_kwargs", "unpad_inputs", "query_length", "document_length",
       "query_expansion", "model_args", "model_kwargs", "tokenizer_args", "processor_kwargs",
       "config_args", "config_kwargs", "tokenizer_name_or_path"},
      settings.warnings);
  settings.lower_case = get_or(json, "do_lower_case", false, file);
  std::optional<int64_t> limit = read_length(json, "max_seq_length", file);
  for (const char* const key : {"tokenizer_args", "processor_kwargs"}) {
    if (!has_value(json, key)) continue;
    if (const auto own = read_length(json[key], "model_max_length", file)) limit = own;
    read_side(json[key], "truncation_side", file, settings);
  }
  if (!limit) return;
  if (settings.limit.most > 0 && *limit > settings.limit.most)
    settings.warnings.push_back(
        fmt::format("{}: max_seq_length is {}, although model_max_length of tokenizer_config.json "
                    "is {}; max_seq_length counts",
                    file, *limit, settings.limit.most));
  settings.limit.most = *limit;
}

/// PyLate's marks, which stand before the prompts of queries and documents.
void read_prefixes(const SettingsJson& json, const std::string& file,
                   std::map<std::string, std::string>& prompts) {
  for (const char* const task : {"query", "document"}) {
    const auto prefix = get_or<std::string>(json, std::string(task) + "_prefix", "", file);
    if (!prefix.empty() && !prompts[task].starts_with(prefix)) prompts[task].insert(0, prefix);
  }
}

/// Those that only sparse and multi-vector models have are known there.
void warn_of_unknown_settings(SettingsJson json, const std::string& file,
                              PromptSettings& settings) {
  if (settings.kind == "SparseEncoder") json.erase("max_active_dims");
  if (settings.kind == "MultiVectorEncoder" || settings.kind == "ColBERT")
    for (const char* const key :
         {"query_prefix", "document_prefix", "query_length", "document_length", "query_expansion",
          "do_query_expansion", "attend_to_expansion_tokens", "attend_to_mask_tokens",
          "skiplist_words"})
      json.erase(key);
  warn_of_unknown(json, file,
                  {"__version__", "model_type", "prompts", "default_prompt_name", "truncate_dim",
                   "similarity_fn_name", "activation_fn", "requirements", "keep_in_fp32_modules"},
                  settings.warnings);
}

}  // namespace

bool has_value(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null();
}

nlohmann::json read_object(const std::filesystem::path& path) {
  nlohmann::json json = parse_json(read_file(path), path.string());
  require(json.is_object(), "{}: expected an object, found {}", path.string(), excerpt(json));
  return json;
}

void require_known(const nlohmann::json& json, const std::string& file,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : json.items())
    require(std::ranges::find(known, key) != known.end() || value.is_null(),
            "{}: {} is {}, which heed does not apply", file, one_line(key), excerpt(value));
}

std::filesystem::path transformer_settings_file(const std::filesystem::path& folder) {
  for (const char* const family :
       {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"})
    if (auto path = folder / fmt::format("sentence_{}_config.json", family); path_exists(path))
      return path;
  return folder / "sentence_bert_config.json";
}

void warn_of_unknown(const nlohmann::json& json, const std::string& file,
                     std::initializer_list<std::string_view> known,
                     std::vector<std::string>& warnings) {
  for (const auto& [key, value] : json.items())
    if (std::ranges::find(known, key) == known.end() && !value.is_null())
      warnings.push_back(fmt::format("{}: {} is {} and is ignored: heed does not know it", file,
                                     one_line(key), excerpt(value)));
}

std::string lower_cased(const std::string& text) {
  std::string lower;
  text::for_each_code_point(text, [&](const text::CodePoint& point, auto) {
    text::append_lower_case(lower, point.value);
  });
  return lower;
}

int64_t context_limit(const model::ModelConfig& config) {
  return config.positions == model::PositionKind::none ? 0 : config.max_positions;
}

TextSettings read_text_settings(const std::filesystem::path& model_path, int64_t context,
                                TransformerTask task) {
  TextSettings settings;
  if (!path_is_file(model_path)) {
    read_tokenizer_settings(model_path, settings);
    const int64_t of_tokenizer = settings.limit.most;
    if (path_exists(model_path / kModulesFile)) read_module_settings(model_path, task, settings);
    if (context > 0 && settings.limit.most > context && settings.limit.most != of_tokenizer)
      settings.warnings.push_back(fmt::format(
          "{}: max_seq_length is {}, and the model's context {}, which counts",
          transformer_settings_file(model_path).string(), settings.limit.most, context));
  }
  if (context > 0 && (settings.limit.most == 0 || settings.limit.most > context))
    settings.limit.most = context;
  return settings;
}

PromptSettings read_prompt_settings(const std::filesystem::path& model_path,
                                    std::initializer_list<std::string_view> kinds) {
  PromptSettings settings;
  const std::filesystem::path path = model_path / kSentenceTransformersFile;
  if (path_is_file(model_path) || !path_exists(model_path / kModulesFile)) return settings;
  const std::string file = path.string();
  const SettingsJson json = read_object_if_exists(path);
  if (json.is_null()) return settings;
  settings.kind = get_or<std::string>(json, "model_type", "SentenceTransformer", file);
  if (std::ranges::find(kinds, settings.kind) == kinds.end()) return {};
  settings.present = true;
  warn_of_unknown_settings(json, file, settings);
  if (has_value(json, "max_active_dims")) {
    settings.max_active_dims = get<int64_t>(json, "max_active_dims", file);
    require(*settings.max_active_dims >= 1, "{}: max_active_dims is {}, expected at least 1", file,
            *settings.max_active_dims);
  }
  if (has_value(json, "truncate_dim")) {
    settings.truncate_dim = get<int64_t>(json, "truncate_dim", file);
    require(*settings.truncate_dim >= 1, "{}: truncate_dim is {}, expected at least 1", file,
            *settings.truncate_dim);
  }
  settings.similarity = get_or<std::string>(json, "similarity_fn_name", "", file);
  const SettingsJson prompts =
      has_value(json, "prompts") ? json["prompts"] : SettingsJson::object();
  require(prompts.is_object(), "{}: prompts is {}, expected an object", file, excerpt(prompts));
  for (const auto& [key, value] : prompts.items()) {
    require(value.is_string() || value.is_null(), "{}: prompts.{} is {}, expected a text", file,
            one_line(key), excerpt(value));
    if (value.is_string()) settings.prompts[key] = value.get<std::string>();
  }
  if (settings.kind != "SentenceTransformer") read_prefixes(json, file, settings.prompts);
  const auto name = get_or<std::string>(json, "default_prompt_name", "", file);
  if (name.empty()) return settings;
  // sentence-transformers has empty prompts of these names.
  require(prompts.contains(name) || name == "query" || name == "document",
          "{}: default_prompt_name is {}, which is not among prompts", file, quoted(name));
  settings.prompt = get_or<std::string>(prompts, name, "", file);
  if (settings.prompts.contains(name)) settings.prompt = settings.prompts[name];
  return settings;
}

}  // namespace heed::tasks
