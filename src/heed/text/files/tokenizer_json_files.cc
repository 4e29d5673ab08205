// A tokenizer.json together with the files beside it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/files/tokenizer_class.h"
#include "heed/text/files/tokenizer_files.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;

std::vector<std::pair<int64_t, AddedToken>> own_tokens(const Json& tokenizer,
                                                       const std::string& file) {
  std::vector<std::pair<int64_t, AddedToken>> tokens;
  const auto found = tokenizer.find("added_tokens");
  if (found == tokenizer.end() || !found->is_array()) return tokens;
  for (const Json& token : *found) {
    AddedToken own = read_added_token(token, file);
    // Their order is that of their numbers, which files may lack.
    const auto id = token.contains("id") ? get<int64_t>(token, "id", file)
                                         : static_cast<int64_t>(tokens.size());
    tokens.emplace_back(id, std::move(own));
  }
  return tokens;
}

/// The class that builds this tokenizer anew; null if the file is taken as it is.
const TokenizerClass* class_of(TokenizerFiles& files, const Json& tokenizer) {
  const TokenizerClass* own = find_tokenizer_class(files.tokenizer_class());
  const auto model = tokenizer.find("model");
  if (own == nullptr || model == tokenizer.end() || !model->is_object()) return nullptr;
  if (const Json type = model->value("type", Json()); type != own->model_type) {
    if (!type.is_null())
      files.warn(
          fmt::format("{}: the tokenizer_class (of tokenizer_config.json or config.json) is "
                      "{} and is ignored: the model of tokenizer.json is {}",
                      files.path_of("tokenizer.json"), own->name, excerpt(type)));
    return nullptr;
  }
  const bool bytes = has_step(tokenizer.value("pre_tokenizer", Json()), "ByteLevel") ||
                     has_step(tokenizer.value("decoder", Json()), "ByteLevel");
  // transformers does not trust this name of tokenizers like Llama 3's.
  if (std::string_view(own->name) == "LlamaTokenizer" && bytes) return nullptr;
  return own;
}

PostProcessor post_processor_of(const TokenizerClass& own, const TokenizerParts& parts,
                                const TokenizerFiles& files) {
  const AddedTokens tokens(parts.added_tokens, *parts.model, parts.normalizer.get());
  const std::string file = files.path_of("tokenizer_config.json");
  const auto pair_of = [&](const char* role) {
    const char* otherwise = "";
    for (const auto& [name, token] : own.tokens)
      if (name == role) otherwise = token.content.c_str();
    const std::string piece = files.token_of_role(role, otherwise);
    auto id = tokens.find(piece);
    if (!id) id = parts.model->vocabulary().find(piece);
    require(id.has_value(), "{}: {} is {}, which is not in the vocabulary", file, role,
            quoted(piece));
    return Json{piece, *id};
  };
  if (own.post_processor == ClassPostProcessor::bert)
    return PostProcessor::read(
        {{"type", "BertProcessing"}, {"cls", pair_of("cls_token")}, {"sep", pair_of("sep_token")}},
        file);
  if (own.post_processor == ClassPostProcessor::t5) {
    const Json eos = pair_of("eos_token"), end = {{"SpecialToken", {{"id", "</s>"}}}};
    const Json first = {{"Sequence", {{"id", "A"}}}}, second = {{"Sequence", {{"id", "B"}}}};
    return PostProcessor::read({{"type", "TemplateProcessing"},
                                {"single", Json::array({first, end})},
                                {"pair", Json::array({first, end, second, end})},
                                {"special_tokens", {{"</s>", {{"ids", Json::array({eos[1]})}}}}}},
                               file);
  }
  const bool bytes = std::string_view(own.model_type) == "BPE";
  const bool unigram = std::string_view(own.model_type) == "Unigram";
  return PostProcessor::read(
      {{"type", "RobertaProcessing"},
       {"cls", pair_of(unigram ? "bos_token" : "cls_token")},
       {"sep", pair_of(unigram ? "eos_token" : "sep_token")},
       {"trim_offsets", bytes ? files.option("trim_offsets", true) : !unigram},
       {"add_prefix_space", bytes && files.option("add_prefix_space", false)}},
      file);
}

/// Qwen's class adds its special tokens once more, without the white space around them.
void find_special_tokens_as_written(const TokenizerClass& own, const TokenizerFiles& files,
                                    std::vector<AddedToken>& tokens) {
  std::vector<TokenizerFiles::NamedToken> named = files.named_tokens();
  for (const auto& token : own.tokens)
    if (!files.config().contains(token.first)) named.push_back(token);
  for (AddedToken& token : tokens)
    if (std::ranges::any_of(named,
                            [&](const auto& o) { return o.second.content == token.content; }))
      token = special_token(token.content);
}

}  // namespace

bool has_step(const nlohmann::json& part, std::string_view type) {
  if (!part.is_structured()) return false;
  if (part.is_object() && part.value("type", Json()) == type) return true;
  return std::ranges::any_of(part, [&](const Json& child) { return has_step(child, type); });
}

std::optional<TokenizerParts> read_tokenizer_json(TokenizerFiles& files) {
  auto tokenizer = files.take_json("tokenizer.json");
  if (!tokenizer) return std::nullopt;
  const std::string file = files.path_of("tokenizer.json");
  const TokenizerClass* own = class_of(files, *tokenizer);
  if (own != nullptr) own->build(*tokenizer, files);
  if (own != nullptr && own->post_processor != ClassPostProcessor::of_file)
    (*tokenizer)["post_processor"] = nullptr;
  const auto tokens = own_tokens(*tokenizer, file);
  TokenizerParts parts = read_tokenizer_parts(*tokenizer, file);
  parts.added_tokens = files.merged_tokens(tokens, own != nullptr ? &own->tokens : nullptr);
  if (own != nullptr && std::string_view(own->name) == "Qwen2Tokenizer")
    find_special_tokens_as_written(*own, files, parts.added_tokens);
  if (own != nullptr && own->post_processor != ClassPostProcessor::of_file)
    parts.post_processor = post_processor_of(*own, parts, files);
  const bool is_bpe = (*tokenizer)["model"].value("type", Json("BPE")) == "BPE";
  if (files.option("clean_up_tokenization_spaces", false) && parts.decoder && !is_bpe)
    parts.decoder = make_clean_up_decoder(std::move(parts.decoder));
  check_tokenizer_config(files, &*tokenizer);
  return parts;
}

}  // namespace heed::text
