#include "heed/generate/constrained_output.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heed/base/error.h"

namespace heed::generate {
namespace {

/// How many of the last tokens decide how the text behind them is divided.
constexpr size_t kTokensBefore = 8;

/// The tokens of `text` behind `before`. Empty where the tokenizer would make one token of parts of
/// both, or changes the text.
std::vector<int32_t> tokens_behind(const text::Tokenizer& tokenizer, const std::string& before,
                                   std::string_view text) {
  const std::vector<int32_t> all = tokenizer.encode(before + std::string(text), false);
  size_t count = 0;
  std::string_view rest = text;
  for (; !rest.empty() && count < all.size(); ++count) {
    const int32_t token = all[all.size() - 1 - count];
    const std::string bytes = tokenizer.token_bytes(token);
    if (tokenizer.is_special(token) || bytes.empty() || !rest.ends_with(bytes)) return {};
    rest.remove_suffix(bytes.size());
  }
  if (!rest.empty()) return {};
  return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

}  // namespace

std::shared_ptr<const constrain::Vocabulary> output_vocabulary(const text::Tokenizer& tokenizer,
                                                               int64_t vocab_size,
                                                               std::vector<int32_t> end_tokens) {
  std::vector<std::string> bytes(static_cast<size_t>(vocab_size));
  for (size_t id = 0; id < bytes.size(); ++id)
    bytes[id] = text_of_token(tokenizer, static_cast<int32_t>(id));
  return constrain::Vocabulary::of(std::move(bytes), std::move(end_tokens));
}

std::string text_of_token(const text::Tokenizer& tokenizer, int32_t token) {
  if (tokenizer.is_special(token)) return constrain::special_token_text(tokenizer.piece(token));
  std::string text = tokenizer.token_bytes(token);
  return constrain::has_special_mark(text) ? std::string() : text;
}

void ConstrainedOutput::restrict(const TokenLogits& logits) {
  mask_.resize(matcher_.vocabulary().mask_words());
  matcher_.mask(mask_);
  logits.keep(mask_);
}

void ConstrainedOutput::append(int32_t token) {
  keep_drafted(0);
  require(matcher_.accept(token), "token {} was chosen, which the constraint forbids", token);
}

std::vector<int32_t> ConstrainedOutput::forced_tokens(const text::Tokenizer& tokenizer,
                                                      std::span<const int32_t> output,
                                                      int64_t room) {
  keep_drafted(0);
  const std::string forced = matcher_.forced_bytes();
  const std::string_view text = constrain::text_before_special_token(forced);
  if (text.empty()) return {};
  std::string before;
  for (const int32_t token : output.last(std::min(output.size(), kTokensBefore)))
    before += tokenizer.token_bytes(token);
  std::vector<int32_t> tokens = tokens_behind(tokenizer, before, text);
  for (const int32_t token : tokens)
    if (!draft(token)) return {};
  for (size_t left_out = 0; !tokens.empty(); tokens.pop_back()) {
    keep_drafted(tokens.size() - 1);
    left_out += matcher_.vocabulary().bytes(tokens.back()).size();
    if (!allows_longer_than(left_out)) break;
  }
  keep_drafted(0);
  if (complete_)
    for (size_t i = 0; i < tokens.size(); ++i)
      if (!can_end_behind(tokens[i], --room)) tokens.resize(i);
  keep_drafted(0);
  return tokens;
}

/// Drafts a token. Whether `room` tokens behind it can complete the output.
bool ConstrainedOutput::can_end_behind(int32_t token, int64_t room) {
  return draft(token) && matcher_.can_end_within(room);
}

int32_t ConstrainedOutput::token_with_room(int32_t token, int64_t room) {
  if (!complete_ || matcher_.vocabulary().is_end_token(token)) return token;
  const size_t drafted = drafted_;
  const bool has_room = can_end_behind(token, room - 1);
  keep_drafted(drafted);
  return has_room ? token : matcher_.closing_token();
}

/// Whether a token of more bytes may come next.
bool ConstrainedOutput::allows_longer_than(size_t bytes) {
  if (bytes >= matcher_.vocabulary().max_token_bytes()) return false;
  mask_.resize(matcher_.vocabulary().mask_words());
  matcher_.mask(mask_);
  for (size_t word = 0; word < mask_.size(); ++word)
    for (uint64_t left = mask_[word]; left != 0; left &= left - 1) {
      const size_t token = word * 64 + static_cast<size_t>(std::countr_zero(left));
      if (matcher_.vocabulary().bytes(static_cast<int32_t>(token)).size() > bytes) return true;
    }
  return false;
}

bool ConstrainedOutput::draft(int32_t token) {
  if (!matcher_.accept(token)) return false;
  ++drafted_;
  return true;
}

void ConstrainedOutput::keep_drafted(size_t count) {
  if (drafted_ <= count) return;
  matcher_.rollback(drafted_ - count);
  drafted_ = count;
}

}  // namespace heed::generate
