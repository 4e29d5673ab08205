#include "heed/serve/completion_tokens.h"

#include <algorithm>

#include "heed/serve/token_text.h"

namespace heed::serve {
namespace {

bool is_continuation_byte(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

int64_t characters_in(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !is_continuation_byte(c); });
}

/// The offset of a token with these bytes after `characters` characters: that of the last character
/// if the bytes continue it.
int64_t offset_of(const std::string& bytes, int64_t characters) {
  const bool inside = !bytes.empty() && is_continuation_byte(bytes.front()) && characters > 0;
  return characters - (inside ? 1 : 0);
}

/// The offsets of tokens in their text. Special tokens and the space before the first word, which
/// the text does not have, add nothing to the offsets.
std::vector<int64_t> offsets_in(const Model& model, std::span<const int32_t> tokens,
                                std::string_view text) {
  std::vector<int64_t> offsets;
  int64_t characters = 0;
  for (const int32_t token : tokens) {
    const std::string bytes = model.token_bytes(token);
    offsets.push_back(offset_of(bytes, characters));
    std::string_view own = bytes;
    if (!text.starts_with(own) && own.starts_with(' ')) own.remove_prefix(1);
    if (!text.starts_with(own)) continue;
    characters += characters_in(own);
    text.remove_prefix(own.size());
  }
  return offsets;
}

/// OpenAI's name of a token, which the lists know it by.
std::string name_of_token(const Model& model, int32_t token) {
  return text_of_bytes(model.token_bytes(token), "bytes:");
}

}  // namespace

EchoedTokens echoed_tokens(const Model& model, const TokenizedText& prompt,
                           const std::string& text) {
  EchoedTokens echoed{
      .tokens = prompt.tokens, .offsets = {}, .characters = characters_in(text), .scores = {}};
  if (prompt.text) {
    const Encoding encoding = model.tokenizer("generation")
                                  .encode_with_offsets(text, {.offsets = OffsetUnit::code_points});
    size_t end = 0;
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const bool added = encoding.sequence_ids[i] < 0;
      echoed.offsets.push_back(static_cast<int64_t>(added ? end : encoding.offsets[i].begin));
      if (!added) end = encoding.offsets[i].end;
    }
    if (encoding.ids == prompt.tokens) return echoed;
  }
  echoed.offsets = offsets_in(model, prompt.tokens, text);
  return echoed;
}

void CompletionTokens::add(const EchoedTokens& prompt) {
  for (size_t i = 0; i < prompt.tokens.size(); ++i) {
    if (i == 0)
      add_token(prompt.tokens[0], Json(), Json(), prompt.offsets[0]);
    else
      add(prompt.scores[i - 1].chosen, prompt.scores[i - 1].best, prompt.offsets[i]);
  }
  characters_ = prompt.characters;
}

void CompletionTokens::add(const TokenLogProbability& chosen,
                           std::span<const TokenLogProbability> best) {
  const std::string bytes = model_.token_bytes(chosen.token);
  add(chosen, best, offset_of(bytes, characters_));
  if (!(skip_special_ && tokenizer_ && tokenizer_->is_special(chosen.token)))
    characters_ += characters_in(bytes);
}

void CompletionTokens::add(const TokenLogProbability& chosen,
                           std::span<const TokenLogProbability> best, int64_t offset) {
  Json named = Json::object();
  // Two tokens may stand for the same bytes.
  const auto add_one = [&](const TokenLogProbability& one) {
    std::string name = name_of_token(model_, one.token);
    if (named.contains(name)) name = fmt::format("token_id:{}", one.token);
    named[name] = one.log_probability;
  };
  for (const TokenLogProbability& one : best) add_one(one);
  if (std::ranges::find(best, chosen.token, &TokenLogProbability::token) == best.end())
    add_one(chosen);
  add_token(chosen.token, chosen.log_probability, std::move(named), offset);
}

void CompletionTokens::add_token(int32_t token, Json log_probability, Json best, int64_t offset) {
  if (lists_.is_null())
    for (const char* name : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
      lists_[name] = Json::array();
  lists_["tokens"].push_back(name_of_token(model_, token));
  lists_["token_logprobs"].push_back(std::move(log_probability));
  lists_["top_logprobs"].push_back(std::move(best));
  lists_["text_offset"].push_back(offset);
}

Json CompletionTokens::take() { return std::exchange(lists_, Json()); }

}  // namespace heed::serve
