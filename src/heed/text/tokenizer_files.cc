#include "heed/text/tokenizer_files.h"

#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"

namespace heed::text {
namespace {

/// "<s>", or the same as an object with "content".
std::optional<std::string> content_of(const nlohmann::json& json, const char* key,
                                      const std::string& file) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  if (found->is_null()) return "";  // explicitly no token
  if (found->is_string()) return found->get<std::string>();
  return get<std::string>(*found, "content", file);
}

}  // namespace

TokenizerFiles::TokenizerFiles(std::filesystem::path directory) : directory_(std::move(directory)) {
  config_ = take_json("tokenizer_config.json").value_or(nlohmann::json::object());
  const auto map = take_json("special_tokens_map.json");
  added_ = take_json("added_tokens.json").value_or(nlohmann::json::object());
  if (path_exists(directory_ / "config.json"))
    model_config_ = parse_json(read_file(directory_ / "config.json"), path_of("config.json"));
  if (map) read_special_tokens(*map, path_of("special_tokens_map.json"));
  read_special_tokens(config_, path_of("tokenizer_config.json"));
}

std::optional<std::string> TokenizerFiles::take(const std::string& name) {
  if (!path_exists(directory_ / name)) return std::nullopt;
  taken_.emplace_back(name, read_file(directory_ / name));
  return taken_.back().second;
}

std::optional<nlohmann::json> TokenizerFiles::take_json(const std::string& name) {
  const auto text = take(name);
  if (!text) return std::nullopt;
  nlohmann::json json = parse_json(*text, path_of(name));
  if (!json.is_object()) fail("{}: expected an object, found {}", path_of(name), excerpt(json));
  return json;
}

bool TokenizerFiles::option(const char* key, bool otherwise) const {
  return get_or<bool>(config_, key, otherwise, path_of("tokenizer_config.json"));
}

std::string TokenizerFiles::text_option(const char* key) const {
  return get_or<std::string>(config_, key, "", path_of("tokenizer_config.json"));
}

std::string TokenizerFiles::kind() const {
  auto kind = get_or<std::string>(config_, "tokenizer_class", "", path_of("tokenizer_config.json"));
  if (kind.empty() && model_config_.is_object())
    kind = get_or<std::string>(model_config_, "model_type", "", path_of("config.json"));
  for (char& c : kind)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return kind;
}

void TokenizerFiles::read_special_tokens(const nlohmann::json& json, const std::string& file) {
  const auto read = [&](std::optional<std::string>& name, const char* key) {
    if (auto content = content_of(json, key, file)) name = std::move(content);
  };
  read(special_tokens_.bos, "bos_token");
  read(special_tokens_.eos, "eos_token");
  read(special_tokens_.pad, "pad_token");
  read(special_tokens_.unk, "unk_token");
  read(special_tokens_.mask, "mask_token");
  read(special_tokens_.sep, "sep_token");
  read(special_tokens_.cls, "cls_token");
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->empty()) continue;
    more_special_tokens_.clear();
    for (const auto& token : *found)
      more_special_tokens_.push_back(token.is_string() ? token.get<std::string>()
                                                       : get<std::string>(token, "content", file));
  }
}

std::vector<AddedToken> TokenizerFiles::added_tokens(std::vector<AddedToken> defaults) const {
  std::map<int64_t, AddedToken> numbered;
  const std::string file = path_of("added_tokens.json");
  for (const auto& [content, id] : added_.items())
    numbered[integer_of(id, content, file, 0, limits::kMaxTokenIds - 1)].content = content;
  if (config_.contains("added_tokens_decoder") && config_["added_tokens_decoder"].is_object()) {
    for (const auto& [id, token] : config_["added_tokens_decoder"].items()) {
      if (id.empty() || id.size() > 8 || id.find_first_not_of("0123456789") != id.npos)
        fail("{}: added_tokens_decoder has the id {}", path_of("tokenizer_config.json"),
             quoted(id));
      numbered[std::stoi(id)] = read_added_token(token, path_of("tokenizer_config.json"));
    }
  }
  std::vector<AddedToken> tokens;
  for (auto& [id, token] : numbered) tokens.push_back(std::move(token));
  std::unordered_set<std::string> contents;
  for (const AddedToken& token : tokens) contents.insert(token.content);
  const auto add = [&](AddedToken token) {
    if (!token.content.empty() && contents.insert(token.content).second)
      tokens.push_back(std::move(token));
  };
  for (AddedToken& token : defaults) add(std::move(token));
  const SpecialTokenNames& names = special_tokens_;
  for (const auto& name :
       {names.bos, names.eos, names.unk, names.sep, names.pad, names.cls, names.mask})
    if (name) add(special_token(*name));
  return tokens;
}

AddedToken special_token(std::string content) {
  AddedToken token;
  token.content = std::move(content);
  token.special = true;
  return token;
}

std::optional<TokenizerParts> read_tokenizer_json(TokenizerFiles& files) {
  const auto json = files.take_json("tokenizer.json");
  if (!json) return std::nullopt;
  return read_tokenizer_parts(*json, files.path_of("tokenizer.json"));
}

}  // namespace heed::text
