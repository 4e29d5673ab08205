#include "heed/serve/prompts.h"

#include <fmt/format.h>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

constexpr size_t kMaxTexts = 2048;  // of one request

CountedPrompt text_prompt(const Json& json, const Model& model) {
  const std::string text = json.get<std::string>();
  return {.prompt = text, .tokens = std::ssize(model.tokenize(text))};
}

std::vector<int32_t> tokens_of(const Json& json, const std::string& path, const Model& model) {
  std::vector<int32_t> tokens;
  for (const Json& value : json) {
    const int64_t token = value.is_number_integer() ? value.get<int64_t>() : -1;
    if (token < 0 || token >= model.vocab_size())
      throw invalid_request(path, fmt::format("{} is not a list of tokens from 0 to {}", path,
                                              model.vocab_size() - 1));
    tokens.push_back(static_cast<int32_t>(token));
  }
  if (tokens.empty()) throw invalid_request(path, fmt::format("{} is empty", path));
  return tokens;
}

CountedPrompt token_prompt(const Json& json, const std::string& path, const Model& model) {
  std::vector<int32_t> tokens = tokens_of(json, path, model);
  const auto count = std::ssize(tokens);
  return {.prompt = std::move(tokens), .tokens = count};
}

}  // namespace

std::string CountedPrompt::text(const Model& model) const {
  const auto* text = std::get_if<std::string>(&prompt);
  return text ? *text : model.detokenize(std::get<std::vector<int32_t>>(prompt), false);
}

std::vector<std::string> read_texts(JsonFields& fields, std::string_view name) {
  fields.require(name);
  std::vector<std::string> texts = *fields.texts(name);
  const std::string path = fields.path_of(name);
  if (texts.empty() || texts.size() > kMaxTexts)
    throw invalid_request(
        path, fmt::format("{} has {} texts, expected 1 to {}", path, texts.size(), kMaxTexts));
  return texts;
}

int64_t count_tokens(const Model& model, const std::string& text, const std::string& field) {
  const int64_t tokens = std::ssize(model.tokenize(text)), context = model.context_length();
  if (context > 0 && tokens > context) throw context_length_exceeded(field, tokens, context);
  return tokens;
}

std::vector<int32_t> read_tokens(JsonFields& fields, std::string_view name, const Model& model) {
  const Json& value = fields.require(name);
  const std::string path = fields.path_of(name);
  if (!value.is_array()) throw invalid_request(path, fmt::format("{} is not a list", path));
  return value.empty() ? std::vector<int32_t>() : tokens_of(value, path, model);
}

std::vector<CountedPrompt> read_prompts(JsonFields& fields, std::string_view name,
                                        const Model& model) {
  const Json& value = fields.require(name);
  const std::string path = fields.path_of(name);
  if (value.is_string()) return {text_prompt(value, model)};
  if (!value.is_array() || value.empty())
    throw invalid_request(path, fmt::format("{} is neither a text nor a list", path));
  if (value.front().is_number()) return {token_prompt(value, path, model)};
  if (value.size() > kMaxTexts)
    throw invalid_request(path, fmt::format("{} has {} elements, expected at most {}", path,
                                            value.size(), kMaxTexts));
  std::vector<CountedPrompt> prompts;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string element = fmt::format("{}[{}]", path, i);
    if (value[i].is_string())
      prompts.push_back(text_prompt(value[i], model));
    else if (value[i].is_array())
      prompts.push_back(token_prompt(value[i], element, model));
    else
      throw invalid_request(element,
                            fmt::format("{} is neither a text nor a list of tokens", element));
  }
  return prompts;
}

}  // namespace heed::serve
