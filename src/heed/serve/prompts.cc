#include "heed/serve/prompts.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

constexpr size_t kTextsPerPart = 256;  // tokenized by all threads at a time
constexpr int64_t kTextsPerTask = 32;  // by one of them

std::vector<int32_t> tokens_of(const Json& json, const std::string& path, const Model& model) {
  std::vector<int32_t> tokens;
  for (const Json& value : json) {
    const int64_t token = whole_number(value).value_or(-1);
    if (token < 0 || token >= model.vocab_size())
      throw invalid_request(path, fmt::format("{} is not a list of tokens from 0 to {}, of the "
                                              "model's own tokenizer: send a text instead",
                                              path, model.vocab_size() - 1));
    tokens.push_back(static_cast<int32_t>(token));
  }
  if (tokens.empty()) throw invalid_request(path, fmt::format("{} is empty", path));
  return tokens;
}

}  // namespace

void check_list_length(size_t count, const std::string& field) {
  if (count == 0 || count > kMaxTexts)
    throw invalid_request(
        field, fmt::format("{} has {} elements, expected 1 to {}", field, count, kMaxTexts));
}

std::vector<std::string> read_texts(JsonFields& fields, std::string_view name) {
  fields.require(name);
  std::vector<std::string> texts = *fields.texts(name);
  check_list_length(texts.size(), fields.path_of(name));
  return texts;
}

void refuse_overlong_text(const Model& model, std::string_view text, const std::string& field) {
  // Where a text is cut it may have more tokens than before, but not that many.
  constexpr int64_t kBytesPerToken = 32, kMoreAtCut = 256;
  const int64_t context = model.context_length(), bytes = context * kBytesPerToken;
  if (context == 0 || std::ssize(text) <= 2 * bytes) return;
  auto end = static_cast<size_t>(bytes);
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;  // within a character
  const int64_t tokens = std::ssize(model.tokenize(text.substr(0, end), false));
  if (tokens > 2 * context + kMoreAtCut)
    throw context_length_exceeded(field, tokens, context, true);
}

int64_t count_tokens(const Model& model, const std::string& text, const std::string& field) {
  refuse_overlong_text(model, text, field);
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
    const std::function<std::vector<int32_t>(const std::string&, const std::string&)>& tokenize) {
  const Json& value = fields.require(name);
  const std::string path = fields.path_of(name);
  const auto read = [&](const Json& one, const std::string& place) -> TokenizedText {
    if (one.is_array()) return {tokens_of(one, place, model)};
    if (!one.is_string())
      throw invalid_request(place, fmt::format("{} is neither a text nor a list of tokens", place));
    auto text = one.get<std::string>();
    return {tokenize(text, place), std::move(text)};
  };
  const bool list = value.is_array() && (value.empty() || !value.front().is_number());
  if (!list) return {read(value, path)};
  check_list_length(value.size(), path);
  std::vector<TokenizedText> result(value.size());
  // By all threads, if none computes at the moment; in parts, so that others may compute between.
  const ExecutorScope scope(*model.executor());
  for (size_t first = 0; first < result.size(); first += kTextsPerPart) {
    check_interrupted();
    const size_t count = std::min(kTextsPerPart, result.size() - first);
    parallel_in_order(static_cast<int64_t>(count), kTextsPerTask, [&](int64_t begin, int64_t end) {
      for (size_t i = first + static_cast<size_t>(begin); i < first + static_cast<size_t>(end); ++i)
        result[i] = read(value[i], fmt::format("{}[{}]", path, i));
    });
  }
  return result;
}

std::vector<int32_t> fill_in_middle_tokens(const Model& model, const text::TextWithGap& text,
                                           const std::string& field) {
  refuse_overlong_text(model, text.prefix, field);
  refuse_overlong_text(model, text.suffix, field);
  for (const auto& [name, contents] : text.files) refuse_overlong_text(model, contents, field);
  const Tokenizer tokenizer = model.tokenizer("filling in the middle");
  try {
    return text::fill_in_middle_prompt(text::unwrapped(tokenizer), text);
  } catch (const InputError& error) {
    throw invalid_request(field, error.what());
  }
}

std::optional<int64_t> read_kept_tokens(JsonFields& fields, const Model& model) {
  const auto keep = fields.integer("truncate_prompt_tokens", -1, INT32_MAX);
  if (keep == 0)
    throw invalid_request("truncate_prompt_tokens",
                          "truncate_prompt_tokens is 0, expected at least 1, or -1");
  if (keep != -1) return keep;
  const int64_t context = model.context_length();
  return context > 0 ? std::optional(context - 1) : std::nullopt;
}

bool keep_last_tokens(std::vector<int32_t>& tokens, int64_t count) {
  if (std::ssize(tokens) <= count) return false;
  tokens.erase(tokens.begin(), tokens.end() - count);
  return true;
}

}  // namespace heed::serve
