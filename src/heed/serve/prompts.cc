#include "heed/serve/prompts.h"

#include <fmt/format.h>

#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

constexpr size_t kMaxTexts = 2048;     // of one request
constexpr int64_t kTextsPerTask = 32;  // tokenized by a thread at a time

std::vector<int32_t> tokens_of(const Json& json, const std::string& path, const Model& model) {
  std::vector<int32_t> tokens;
  for (const Json& value : json) {
    const int64_t token = whole_number(value).value_or(-1);
    if (token < 0 || token >= model.vocab_size())
      throw invalid_request(path, fmt::format("{} is not a list of tokens from 0 to {}", path,
                                              model.vocab_size() - 1));
    tokens.push_back(static_cast<int32_t>(token));
  }
  if (tokens.empty()) throw invalid_request(path, fmt::format("{} is empty", path));
  return tokens;
}

void check_count(size_t count, const std::string& path) {
  if (count == 0 || count > kMaxTexts)
    throw invalid_request(
        path, fmt::format("{} has {} elements, expected 1 to {}", path, count, kMaxTexts));
}

}  // namespace

std::vector<std::string> read_texts(JsonFields& fields, std::string_view name) {
  fields.require(name);
  std::vector<std::string> texts = *fields.texts(name);
  check_count(texts.size(), fields.path_of(name));
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

std::vector<TokenizedText> read_texts_or_tokens(
    JsonFields& fields, std::string_view name, const Model& model,
    const std::function<std::vector<int32_t>(const std::string&)>& tokenize) {
  const Json& value = fields.require(name);
  const std::string path = fields.path_of(name);
  const auto read = [&](const Json& one, const std::string& place) -> TokenizedText {
    if (one.is_array()) return {tokens_of(one, place, model)};
    if (!one.is_string())
      throw invalid_request(place, fmt::format("{} is neither a text nor a list of tokens", place));
    auto text = one.get<std::string>();
    return {tokenize(text), std::move(text)};
  };
  const bool list = value.is_array() && (value.empty() || !value.front().is_number());
  if (!list) return {read(value, path)};
  check_count(value.size(), path);
  std::vector<TokenizedText> result(value.size());
  // By all threads, if none computes at the moment.
  const ExecutorScope scope(*engine::loaded(model).executor);
  parallel_in_order(std::ssize(result), kTextsPerTask, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      result[i] = read(value[i], fmt::format("{}[{}]", path, i));
  });
  return result;
}

}  // namespace heed::serve
