#include "heed/base/error.h"

#include <nlohmann/json.hpp>
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

AddedToken read_added_token(const nlohmann::json& json, const std::string& file) {
  AddedToken token;
  token.content = get<std::string>(json, "content", file);
  token.single_word = get_or<bool>(json, "single_word", false, file);
  token.strip_left = get_or<bool>(json, "lstrip", false, file);
  token.strip_right = get_or<bool>(json, "rstrip", false, file);
  token.special = get_or<bool>(json, "special", false, file);
  token.normalized = get_or<bool>(json, "normalized", !token.special, file);
  return token;
}

namespace {

/// Normalizers, pre-tokenizers and so on below `json`, and the bytes of their regular expressions.
struct PartCount {
  size_t parts = 0, pattern_bytes = 0;

  void add(const nlohmann::json& json) {
    if (!json.is_structured()) return;
    if (json.is_object() && json.contains("type")) ++parts;
    if (json.is_object() && json.contains("Regex") && json["Regex"].is_string())
      pattern_bytes += json["Regex"].get_ref<const std::string&>().size();
    for (const auto& child : json) add(child);
  }
};

/// Each part takes a pass over every text, and each pattern takes memory.
void check_part_count(const nlohmann::json& json, const std::string& file) {
  PartCount count;
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
    if (json.contains(key)) count.add(json[key]);
  require(
      count.parts <= limits::kMaxTokenizerParts,
      "{}: {} normalizers, pre-tokenizers, post-processors and decoders, at most {} are allowed",
      file, count.parts, limits::kMaxTokenizerParts);
  require(count.pattern_bytes <= limits::kMaxPatternBytes,
          "{}: the regular expressions have {} bytes in total, at most {} are allowed", file,
          count.pattern_bytes, limits::kMaxPatternBytes);
}

}  // namespace

TokenizerParts read_tokenizer_parts(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object()) fail("{}: expected an object, found {}", file, excerpt(json));
  check_part_count(json, file);
  const auto member = [&](const char* key) -> const nlohmann::json* {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  };
  TokenizerParts parts;
  const nlohmann::json* model = member("model");
  require(model != nullptr, "{}: model is missing", file);
  parts.model = read_model(*model, file);
  if (const auto* found = member("normalizer")) parts.normalizer = read_normalizer(*found, file);
  if (const auto* found = member("pre_tokenizer"))
    parts.pre_tokenizer = read_pre_tokenizer(*found, file);
  if (const auto* found = member("post_processor"))
    parts.post_processor = PostProcessor::read(*found, file);
  if (const auto* found = member("decoder")) parts.decoder = read_decoder(*found, file);
  if (const auto* found = member("added_tokens")) {
    if (!found->is_array()) fail("{}: added_tokens is {}, expected a list", file, excerpt(*found));
    for (const auto& token : *found) parts.added_tokens.push_back(read_added_token(token, file));
  }
  return parts;
}

Tokenizer Tokenizer::from_json(const nlohmann::json& json, const std::string& file) {
  return from_parts(read_tokenizer_parts(json, file), {}, {{"tokenizer.json", dump_json(json)}});
}

}  // namespace heed::text
