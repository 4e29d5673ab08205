#include "heed/text/files/tokenizer_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/text/files/tokenizer_class.h"

namespace heed::text {
namespace {

/// The roles of special tokens in the order in which transformers adds them.
constexpr const char* kRoles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

bool has_role(std::string_view key) { return std::ranges::find(kRoles, key) != std::end(kRoles); }

/// "<s>", or the same as an object with "content"; nothing for null.
std::optional<AddedToken> token_of(const nlohmann::json& json, const std::string& file) {
  if (json.is_null()) return std::nullopt;
  if (json.is_string()) return special_token(json.get<std::string>());
  AddedToken token = read_added_token(json, file);
  token.special = true;
  return token;
}

/// The texts of special tokens, to compare two files.
nlohmann::json contents_of(const nlohmann::json& json) {
  if (json.is_object() && json.contains("content")) return json["content"];
  if (!json.is_structured()) return json;
  nlohmann::json contents = json;
  for (auto& child : contents) child = contents_of(child);
  return contents;
}

}  // namespace

TokenizerFiles::TokenizerFiles(std::filesystem::path directory) : directory_(std::move(directory)) {
  config_ = take_json("tokenizer_config.json").value_or(nlohmann::json::object());
  const auto map = take_json("special_tokens_map.json");
  added_ = take_json("added_tokens.json").value_or(nlohmann::json::object());
  if (path_exists(directory_ / "config.json"))
    model_config_ = parse_json(read_file(directory_ / "config.json"), path_of("config.json"));
  if (map) merge_special_tokens(*map);
  read_special_tokens();
}

/// As transformers does: the map wins, unless tokenizer_config.json lists all added tokens.
void TokenizerFiles::merge_special_tokens(const nlohmann::json& map) {
  const bool ignored = config_.contains("added_tokens_decoder");
  for (const auto& [key, value] : map.items()) {
    const auto own = config_.find(key);
    const bool differs = own != config_.end() && contents_of(*own) != contents_of(value) &&
                         (ignored || key != "extra_special_tokens");
    if (differs || (ignored && own == config_.end() && !value.empty()))
      warn(fmt::format("{}: {} is {}{}", path_of("special_tokens_map.json"), key,
                       excerpt(contents_of(value)),
                       ignored ? " and is ignored: tokenizer_config.json lists all added tokens"
                               : ", which replaces the one of tokenizer_config.json"));
    if (ignored) continue;
    nlohmann::json& merged = config_[key];
    if (key != "extra_special_tokens" || !value.is_array() || !merged.is_array()) {
      merged = value;
      continue;
    }
    for (const auto& token : value)
      if (std::find(merged.begin(), merged.end(), token) == merged.end()) merged.push_back(token);
  }
}

std::optional<std::string> TokenizerFiles::take(const std::string& name) {
  if (!path_exists(directory_ / name)) return std::nullopt;
  taken_.emplace_back(name, read_file(directory_ / name));
  return taken_.back().second;
}

std::string TokenizerFiles::take_required(const std::string& name) {
  auto contents = take(name);
  require(contents.has_value(), "{} does not exist", path_of(name));
  return std::move(*contents);
}

bool TokenizerFiles::has_taken(std::string_view name) const {
  return std::ranges::any_of(taken_, [&](const auto& file) { return file.first == name; });
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
  return lower_case(kind);
}

std::string TokenizerFiles::tokenizer_class() const {
  const auto named = [](const nlohmann::json& json, const std::string& file) {
    auto name = json.is_object() ? get_or<std::string>(json, "tokenizer_class", "", file) : "";
    if (name.ends_with("Fast")) name.resize(name.size() - 4);
    return name;
  };
  std::string own = named(config_, path_of("tokenizer_config.json"));
  if (own.empty()) own = named(model_config_, path_of("config.json"));
  std::string type;
  if (model_config_.is_object())
    type = get_or<std::string>(model_config_, "model_type", "", path_of("config.json"));
  return class_of_tokenizer(own, type);
}

void TokenizerFiles::read_special_tokens() {
  const std::string file = path_of("tokenizer_config.json");
  std::optional<std::string>* const names[] = {
      &special_tokens_.bos, &special_tokens_.eos, &special_tokens_.unk, &special_tokens_.sep,
      &special_tokens_.pad, &special_tokens_.cls, &special_tokens_.mask};
  for (size_t i = 0; i < std::size(kRoles); ++i) {
    const auto found = config_.find(kRoles[i]);
    if (found == config_.end()) continue;
    const auto token = token_of(*found, file);
    *names[i] = token ? token->content : "";  // explicitly no token
    if (token) named_tokens_.emplace_back(kRoles[i], *token);
  }
  for (const auto& [key, value] : config_.items())
    if (key.ends_with("_token") && !has_role(key) && (value.is_string() || value.is_object()))
      named_tokens_.emplace_back(key, *token_of(value, file));
  for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
    const auto found = config_.find(key);
    if (found == config_.end() || !found->is_structured() || found->empty()) continue;
    for (const auto& [name, value] : found->items()) {
      const auto token = token_of(value, file);
      if (token && found->is_object()) named_tokens_.emplace_back(name, *token);
      if (token && found->is_array()) more_special_tokens_.push_back(*token);
    }
    break;
  }
}

std::string TokenizerFiles::token_of_role(const char* role, const char* otherwise) const {
  for (const auto& [key, token] : named_tokens_)
    if (key == role) return token.content;
  return otherwise;
}

std::map<int64_t, AddedToken> TokenizerFiles::numbered_tokens() const {
  std::map<int64_t, AddedToken> numbered;
  const std::string config = path_of("tokenizer_config.json"), file = path_of("added_tokens.json");
  if (const auto found = config_.find("added_tokens_decoder");
      found != config_.end() && found->is_object()) {
    for (const auto& [id, token] : found->items()) {
      if (id.empty() || id.size() > 8 || id.find_first_not_of("0123456789") != id.npos)
        fail("{}: added_tokens_decoder has the id {}", config, quoted(id));
      numbered[std::stoi(id)] = read_added_token(token, config);
    }
    return numbered;
  }
  const auto is_content = [](const std::string& content) {
    return [&content](const AddedToken& token) { return token.content == content; };
  };
  for (const auto& [content, id] : added_.items()) {
    const bool special =
        std::ranges::any_of(named_tokens_,
                            [&](const auto& named) { return named.second.content == content; }) ||
        std::ranges::any_of(more_special_tokens_, is_content(content));
    AddedToken& token = numbered[integer_of(id, content, file, 0, limits::kMaxTokenIds - 1)];
    token = special_token(content);
    token.special = special;
    token.normalized = !special;
  }
  return numbered;
}

std::vector<AddedToken> TokenizerFiles::added_tokens(std::vector<AddedToken> defaults) const {
  std::vector<AddedToken> tokens;
  for (auto& [id, token] : numbered_tokens()) tokens.push_back(token);
  std::unordered_set<std::string> contents;
  for (const AddedToken& token : tokens) contents.insert(token.content);
  const auto add = [&](AddedToken token) {
    if (!token.content.empty() && contents.insert(token.content).second)
      tokens.push_back(std::move(token));
  };
  for (AddedToken& token : defaults) add(std::move(token));
  for (const auto& [role, token] : named_tokens_) add(token);
  for (const AddedToken& token : more_special_tokens_) add(token);
  return tokens;
}

std::vector<AddedToken> TokenizerFiles::merged_tokens(
    const std::vector<std::pair<int64_t, AddedToken>>& own,
    const std::vector<NamedToken>* defaults) const {
  std::map<int64_t, AddedToken> numbered = numbered_tokens();
  if (!config_.contains("added_tokens_decoder"))
    for (const auto& [id, token] : own) numbered[id] = token;
  std::vector<AddedToken> tokens;
  std::unordered_map<std::string, AddedToken> last;  // by content
  const auto add = [&](AddedToken token, bool replaces) {
    const auto found = last.find(token.content);
    if (token.content.empty() || (found != last.end() && (!replaces || found->second == token)))
      return;
    last[token.content] = token;
    tokens.push_back(std::move(token));
  };
  std::vector<NamedToken> named = named_tokens_;
  if (defaults == nullptr) {
    for (const auto& [id, token] : own) add(token, true);
  } else {
    for (const NamedToken& token : *defaults)
      if (!config_.contains(token.first)) named.push_back(token);
  }
  const auto place = [](const NamedToken& token) {
    return std::ranges::find(kRoles, token.first) - std::begin(kRoles);
  };
  std::ranges::stable_sort(named, {}, place);
  const auto is_named = [&](const std::string& content) {
    return std::ranges::any_of(named,
                               [&](const NamedToken& t) { return t.second.content == content; });
  };
  std::unordered_map<std::string, AddedToken> listed;
  for (auto [id, token] : numbered) {
    listed[token.content] = token;
    token.special = token.special || is_named(token.content);
    add(token, true);
  }
  for (const auto& [role, token] : named) add(token, false);
  for (const AddedToken& token : more_special_tokens_) add(token, false);
  // Those with a role become special; those without are found as they are written.
  for (const auto& [role, token] : named) {
    const auto found = listed.find(token.content);
    AddedToken special = found == listed.end() ? token : found->second;
    special.special = true;
    add(std::move(special), true);
  }
  for (const AddedToken& token : more_special_tokens_) add(token, true);
  return tokens;
}

AddedToken special_token(std::string content) {
  AddedToken token;
  token.content = std::move(content);
  token.special = true;
  return token;
}

}  // namespace heed::text
