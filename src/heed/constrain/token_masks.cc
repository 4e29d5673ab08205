#include "heed/constrain/token_masks.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::constrain {
namespace {

// States and tokens that are looked at to find whether tokens lead from a state to an end.
constexpr size_t kMaxSearched = 50, kMaxTokens = size_t{1} << 17;

template <typename Visit>
void for_each_token(std::span<const uint64_t> bits, const Visit& visit) {
  for (size_t word = 0; word < bits.size(); ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      visit(static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left))));
    }
  }
}

}  // namespace

TokenMasks::TokenMasks(Recognizer& recognizer, TextCover& cover,
                       std::shared_ptr<const Vocabulary> vocabulary)
    : recognizer_(recognizer), table_(recognizer, cover, std::move(vocabulary)) {
  // Without tokens a matcher can only be given bytes.
  if (this->vocabulary().token_bytes().empty()) return;
  const Grammar& grammar = recognizer.grammar();
  ByteSet used;
  for (const ByteSet& set : grammar.expressions.reachable_sets(grammar.lexemes)) used |= set;
  // Special tokens are written as a whole.
  const ByteSet apart = ~(this->vocabulary().single_bytes() | ByteSet::of(kSpecialMark));
  if ((used & apart).empty()) return;
  require_text_of(grammar, this->vocabulary().token_bytes());
  shortest_.emplace(recognizer);
  if (can_end(recognizer.start())) return;
  fail("the vocabulary cannot spell what the constraint requires: {}",
       unspelled(recognizer.start()));
}

void TokenMasks::mask(uint32_t state, std::span<uint64_t> bits) {
  table_.mask(state, bits);
  if (!shortest_) return;
  auto known = removed_.find(state);
  if (known == removed_.end()) {
    std::vector<uint32_t> removed;
    for_each_token(bits, [&](uint32_t token) {
      const std::string_view text = vocabulary().bytes(static_cast<int32_t>(token));
      if (!can_end(state_after(state, text))) removed.push_back(token);
    });
    known = removed_.emplace(state, std::move(removed)).first;
  }
  for (const uint32_t token : known->second) bits[token / 64] &= ~(uint64_t{1} << (token % 64));
  const bool is_empty = std::ranges::all_of(bits, [](uint64_t word) { return word == 0; });
  if (is_empty && !recognizer_.accepting(state)) fail("no token can follow: {}", unspelled(state));
}

bool TokenMasks::can_end(uint32_t state) {
  if (!shortest_) return true;
  if (const auto known = ends_.find(state); known != ends_.end()) return known->second;
  return has_known_end(state) || search_end(state);
}

uint32_t TokenMasks::state_after(uint32_t state, std::string_view bytes) {
  recognizer_.lexer().expressions().spend(1);
  for (const char byte : bytes) state = recognizer_.next(state, static_cast<uint8_t>(byte));
  return state;
}

// Whether an end was found before, or is found at once.
bool TokenMasks::has_known_end(uint32_t state) {
  if (const auto known = ends_.find(state); known != ends_.end()) return known->second;
  if (!recognizer_.accepting(state) && !unspelled_rest(shortest_->text(state)).empty())
    return false;
  ends_[state] = true;
  return true;
}

// What is left of a text where the longest tokens do not go on; empty: they spell it.
std::string_view TokenMasks::unspelled_rest(std::string_view text) const {
  while (!text.empty()) {
    const std::optional<int32_t> token = vocabulary().longest_token(text);
    if (!token) break;
    text.remove_prefix(vocabulary().bytes(*token).size());
  }
  return text;
}

// In the order of the tokens. Adds how many these are.
std::vector<uint32_t> TokenMasks::next_states(uint32_t state, size_t& tokens) {
  std::vector<uint64_t> bits(vocabulary().mask_words());
  table_.mask(state, bits);
  std::vector<uint32_t> states;
  std::unordered_set<uint32_t> seen;
  for_each_token(bits, [&](uint32_t token) {
    const uint32_t next = state_after(state, vocabulary().bytes(static_cast<int32_t>(token)));
    if (seen.insert(next).second) states.push_back(next);
    ++tokens;
  });
  return states;
}

// Breadth first. What is found does not depend on what was known before: a state is said to have no
// end only if all that it leads to was looked at.
bool TokenMasks::search_end(uint32_t root) {
  std::vector<uint32_t> seen = {root};
  size_t tokens = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const uint32_t next : next_states(seen[i], tokens)) {
      if (std::ranges::find(seen, next) != seen.end()) continue;
      if (has_known_end(next) || seen.size() == kMaxSearched || tokens > kMaxTokens) {
        return ends_[root] = true;
      }
      seen.push_back(next);
    }
  }
  for (const uint32_t state : seen) ends_[state] = false;
  return false;
}

// What tokens do not spell of the shortest text that may follow.
std::string TokenMasks::unspelled(uint32_t state) {
  const std::string text = shortest_->text(state);
  const std::string_view rest = unspelled_rest(text);
  if (rest.empty()) return fmt::format("no tokens spell {}", quoted(text));
  const std::string_view character = rest.substr(0, code_point_at(rest, 0).length);
  return fmt::format("no tokens spell {} in {}", quoted(character), quoted(text));
}

}  // namespace heed::constrain
