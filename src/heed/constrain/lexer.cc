#include "heed/constrain/lexer.h"

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/hash.h"

namespace heed::constrain {

Lexer::Lexer(Expressions expressions, std::vector<ExpressionId> lexemes,
             std::span<const ExpressionId> others, size_t max_memory)
    : expressions_(std::move(expressions)), lexemes_(std::move(lexemes)), max_memory_(max_memory) {
  add_accepted({});
  std::vector<ExpressionId> roots = lexemes_;
  roots.insert(roots.end(), others.begin(), others.end());
  classes_ = expressions_.byte_classes(roots);
  add_state({});
}

size_t Lexer::memory() const {
  return table_.size() * sizeof(uint32_t) + entries_.size() * sizeof(Entry) +
         states_.size() * (sizeof(State) + 48) + expressions_.memory();
}

uint32_t Lexer::start(std::span<const uint32_t> lexemes) {
  std::vector<Entry> entries;
  entries.reserve(lexemes.size());
  for (const uint32_t lexeme : lexemes) entries.push_back({lexeme, lexemes_[lexeme]});
  return add_state(std::move(entries));
}

uint32_t Lexer::find_next(uint32_t state, uint8_t byte_class) {
  const uint8_t byte = classes_.representative[byte_class];
  std::vector<Entry> entries;
  ByteSet alike = ByteSet::all();
  for (uint32_t i = 0; i < states_[state].size; ++i) {
    const Entry entry = entries_[states_[state].begin + i];
    const ExpressionId rest = expressions_.derivative(entry.rest, byte);
    alike &= expressions_.alike(entry.rest, byte);
    if (!expressions_.is_empty(rest)) entries.push_back({entry.lexeme, rest});
  }
  uint32_t next = add_state(std::move(entries));
  if (states_[next].accepted != 0) next |= kAccepting;
  uint32_t* const row = &table_[state * classes()];
  for (size_t i = 0; i < classes(); ++i) {
    if (row[i] == kUnknown && alike.contains(classes_.representative[i])) row[i] = next;
  }
  return next;
}

uint32_t Lexer::add_state(std::vector<Entry> entries) {
  const uint64_t hash = hash_after(entries.size(), {reinterpret_cast<const char*>(entries.data()),
                                                    entries.size() * sizeof(Entry)});
  const auto [first, last] = state_of_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (std::ranges::equal(this->entries(known->second), entries)) return known->second;
  }
  require(memory() <= max_memory_, "the constraint needs more than {} MB", max_memory_ >> 20);
  const auto id = static_cast<uint32_t>(states_.size());
  std::vector<uint32_t> complete;
  ByteSet following;
  bool goes_on = false;
  for (const Entry& entry : entries) {
    if (expressions_.nullable(entry.rest)) complete.push_back(entry.lexeme);
    goes_on = goes_on || may_continue(entry.rest);
    following |= expressions_.first_bytes(entry.rest);
  }
  states_.push_back({static_cast<uint32_t>(entries_.size()), static_cast<uint32_t>(entries.size()),
                     add_accepted(std::move(complete)), goes_on});
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  state_of_.emplace(hash, id);
  table_.resize(table_.size() + classes(), kDead);
  uint32_t* const row = &table_[id * classes()];
  for (size_t i = 0; i < classes(); ++i) {
    if (following.contains(classes_.representative[i])) row[i] = kUnknown;
  }
  return id;
}

// Whether `rest`, which is not empty, matches more than the empty string.
bool Lexer::may_continue(ExpressionId rest) {
  if (!expressions_.nullable(rest)) return true;
  if (expressions_.node(rest).plain) return rest != expressions_.epsilon();
  for (ByteSet open = expressions_.first_bytes(rest); !open.empty();) {
    const auto byte = static_cast<uint8_t>(open.first());
    if (!expressions_.is_empty(expressions_.derivative(rest, byte))) return true;
    open &= ~expressions_.alike(rest, byte);
  }
  return false;
}

uint32_t Lexer::add_accepted(std::vector<uint32_t> lexemes) {
  const auto [at, inserted] =
      accepted_index_.try_emplace(lexemes, static_cast<uint32_t>(accepted_.size()));
  if (inserted) accepted_.push_back(std::move(lexemes));
  return at->second;
}

}  // namespace heed::constrain
