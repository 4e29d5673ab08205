// Members of tokenizer_config.json that are not applied.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/files/tokenizer_class.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;

/// Applied, here or by what reads the model: docs/models.md lists them.
constexpr std::string_view kApplied[] = {"add_bos_token",
                                         "add_eos_token",
                                         "add_prefix_space",
                                         "added_tokens_decoder",
                                         "additional_special_tokens",
                                         "chat_template",
                                         "clean_up_tokenization_spaces",
                                         "do_lower_case",
                                         "extra_ids",
                                         "extra_special_tokens",
                                         "keep_accents",
                                         "legacy",
                                         "legacy_behaviour",
                                         "max_len",
                                         "model_max_length",
                                         "separate_vocabs",
                                         "split_by_punct",
                                         "split_special_tokens",
                                         "src_lang",
                                         "strip_accents",
                                         "target_lang",
                                         "tgt_lang",
                                         "tokenize_chinese_chars",
                                         "tokenizer_class",
                                         "trim_offsets"};
/// Without influence on ids or text: heed pads nothing and truncates where the caller says.
constexpr std::string_view kWithoutInfluence[] = {"auto_map",
                                                  "backend",
                                                  "chat_control_tokens",
                                                  "clean_text",
                                                  "cls_token_box",
                                                  "device_map",
                                                  "do_basic_tokenize",
                                                  "errors",
                                                  "files_loaded",
                                                  "fix_mistral_regex",
                                                  "from_slow",
                                                  "full_tokenizer_file",
                                                  "init_inputs",
                                                  "is_local",
                                                  "language_codes",
                                                  "local_files_only",
                                                  "mask_token_sent",
                                                  "max_length",
                                                  "model_input_names",
                                                  "model_specific_special_tokens",
                                                  "model_type",
                                                  "name_or_path",
                                                  "never_split",
                                                  "num_madeup_words",
                                                  "offset",
                                                  "only_label_first_subword",
                                                  "pad_to_multiple_of",
                                                  "pad_token_box",
                                                  "pad_token_label",
                                                  "pad_token_type_id",
                                                  "padding",
                                                  "padding_side",
                                                  "processor_class",
                                                  "remove_space",
                                                  "response_schema",
                                                  "response_template",
                                                  "return_token_type_ids",
                                                  "sep_token_box",
                                                  "source_lang",
                                                  "spaces_between_special_tokens",
                                                  "special_tokens",
                                                  "special_tokens_map_file",
                                                  "stride",
                                                  "tokenizer_file",
                                                  "transformers_version",
                                                  "truncation_strategy",
                                                  "unk_id",
                                                  "use_default_system_prompt",
                                                  "use_fast",
                                                  "verbose",
                                                  "vocab_file",
                                                  "vocab_size",
                                                  "vocab_type",
                                                  "wordpieces_prefix"};

/// The first member `key` of a part, or of the parts below it.
std::optional<Json> member_of(const Json& part, const char* key) {
  if (!part.is_structured()) return std::nullopt;
  if (part.is_object() && part.contains(key)) return part[key];
  for (const Json& child : part)
    if (auto found = member_of(child, key)) return found;
  return std::nullopt;
}

/// "always" and "first" put a space before a text.
Json prefix_space_of(const Json& tokenizer) {
  const Json steps = tokenizer.value("pre_tokenizer", Json());
  if (const auto scheme = member_of(steps, "prepend_scheme")) return *scheme != "never";
  if (const auto added = member_of(steps, "add_prefix_space")) return *added;
  return member_of(tokenizer.value("normalizer", Json()), "prepend").has_value();
}

/// What the tokenizer.json does, whatever tokenizer_config.json says; null if it has no such step.
Json value_in_use(const Json& tokenizer, std::string_view key) {
  if (key == "add_prefix_space") return prefix_space_of(tokenizer);
  const Json normalizer = tokenizer.value("normalizer", Json());
  if (key == "do_lower_case" && has_step(normalizer, "Lowercase")) return true;
  const char* const own = key == "do_lower_case"   ? "lowercase"
                          : key == "strip_accents" ? "strip_accents"
                                                   : "handle_chinese_chars";
  return member_of(normalizer, own).value_or(Json());
}

}  // namespace

void check_tokenizer_config(TokenizerFiles& files, const Json* tokenizer) {
  const std::string file = files.path_of("tokenizer_config.json");
  const auto ignored = [&](const std::string& key, const Json& value, std::string_view why) {
    files.warn(fmt::format("{}: {} is {} and is ignored: {}", file, key, excerpt(value), why));
  };
  for (const auto& [key, value] : files.config().items()) {
    if (value.is_null() || key.ends_with("_token") || key.starts_with("_")) continue;
    if (key == "truncation_side" && value != "right")
      ignored(key, value, "texts are shortened at their end");
    if (key == "sp_model_kwargs" && value.is_object() && value.value("enable_sampling", false))
      ignored(key, value, "texts are split in the best way");
    if (key == "never_split" && !value.empty()) ignored(key, value, "transformers ignores it, too");
    if (key == "truncation_side" || key == "sp_model_kwargs") continue;
    const bool of_file = key == "do_lower_case" || key == "strip_accents" ||
                         key == "tokenize_chinese_chars" || key == "add_prefix_space";
    if (of_file && tokenizer != nullptr && value != value_in_use(*tokenizer, key) &&
        value != Json(false))
      ignored(key, value, "tokenizer.json does otherwise, and decides for this tokenizer_class");
    const bool known = std::ranges::find(kApplied, key) != std::end(kApplied) ||
                       std::ranges::find(kWithoutInfluence, key) != std::end(kWithoutInfluence);
    if (!known) ignored(key, value, "it is not known");
  }
}

}  // namespace heed::text
