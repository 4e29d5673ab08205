#include "heed/constrain/recognizer.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

// What a new state costs, and further ones for its threads, in steps of Expressions.
constexpr size_t kStateSteps = 4;

}  // namespace

Recognizer::Recognizer(std::shared_ptr<const Grammar> grammar, std::span<const ExpressionId> others,
                       size_t max_memory)
    : grammar_(std::move(grammar)),
      lexer_(grammar_->expressions, grammar_->lexemes, others, max_memory),
      earley_(*grammar_, lexer_, max_memory),
      classes_(lexer_.classes()),
      max_memory_(max_memory) {
  add_state({}, false);
  const uint32_t row = earley_.start();
  std::vector<Thread> threads;
  if (earley_.lexer_state(row) != Lexer::kDead) threads.push_back({row, earley_.lexer_state(row)});
  start_ = add_state(std::move(threads), earley_.accepting(row));
}

size_t Recognizer::memory() const {
  return lexer_.memory() + earley_.memory() + table_.size() * sizeof(uint32_t) +
         threads_.size() * sizeof(Thread) * 2 + states_.size() * 96 + rows_after_.memory();
}

void Recognizer::check_memory(size_t further) const {
  require(memory() + further <= max_memory_, "the constraint needs more than {} MB",
          max_memory_ >> 20);
}

uint32_t Recognizer::find_next(uint32_t state, uint8_t byte_class) {
  std::vector<Thread> threads;
  std::vector<Earley::Completion> completions;
  lexer_.expressions().spend(kStateSteps + states_[state].size);
  for (uint32_t i = 0; i < states_[state].size; ++i) {
    const Thread thread = threads_[states_[state].begin + i];
    const uint32_t next = lexer_.next(thread.lexer_state, byte_class);
    const uint32_t lexer_state = next & ~Lexer::kAccepting;
    const bool completes = next != lexer_state;
    if (completes) completions.push_back({thread.row, lexer_.accepted(lexer_state)});
    if (lexer_state != Lexer::kDead && (!completes || lexer_.continues(lexer_state))) {
      threads.push_back({thread.row, lexer_state});
    }
  }
  const uint32_t next = enter(std::move(threads), completions);
  // The same follows all classes by which the threads go on alike.
  std::vector<uint32_t> differs(classes_);
  for (const Thread& thread : this->threads(state)) {
    const std::span<const uint32_t> row = lexer_.known_next(thread.lexer_state);
    for (size_t i = 0; i < classes_; ++i) differs[i] |= row[i] ^ row[byte_class];
  }
  for (size_t i = 0; i < classes_; ++i) {
    if (differs[i] == 0) table_[state * classes_ + i] = next;
  }
  return next;
}

uint32_t Recognizer::row_after(Thread thread) {
  const uint32_t accepted = lexer_.accepted(thread.lexer_state);
  const uint64_t key = uint64_t{thread.row} << 32 | accepted;
  if (const uint32_t* known = rows_after_.find(key)) return *known;
  const Earley::Completion completion = {thread.row, accepted};
  const uint32_t row = earley_.advance(std::span(&completion, 1));
  rows_after_.insert(key, row);
  return row;
}

// The state with these threads, and one that begins where the completed lexemes end.
uint32_t Recognizer::enter(std::vector<Thread> threads,
                           std::span<const Earley::Completion> completions) {
  bool accepting = false;
  if (!completions.empty()) {
    const uint32_t row = earley_.advance(completions);
    accepting = earley_.accepting(row);
    if (earley_.lexer_state(row) != Lexer::kDead)
      threads.push_back({row, earley_.lexer_state(row)});
  }
  return add_state(std::move(threads), accepting);
}

uint32_t Recognizer::add_state(std::vector<Thread> threads, bool accepting) {
  std::ranges::sort(threads);
  const auto repeated = std::ranges::unique(threads);
  threads.erase(repeated.begin(), repeated.end());
  std::vector<uint32_t> key = {accepting ? 1U : 0U};
  for (const Thread& thread : threads) key.insert(key.end(), {thread.row, thread.lexer_state});
  const auto [at, inserted] =
      state_index_.try_emplace(std::move(key), static_cast<uint32_t>(states_.size()));
  if (!inserted) return at->second;
  check_memory();
  states_.push_back(
      {static_cast<uint32_t>(threads_.size()), static_cast<uint32_t>(threads.size()), accepting});
  threads_.insert(threads_.end(), threads.begin(), threads.end());
  table_.resize(table_.size() + classes_, kDead);
  uint32_t* const row = &table_[at->second * classes_];
  for (const Thread& thread : threads) {
    const std::span<const uint32_t> known = lexer_.known_next(thread.lexer_state);
    for (size_t i = 0; i < classes_; ++i) row[i] |= known[i] == Lexer::kDead ? 0 : kUnknown;
  }
  return at->second;
}

}  // namespace heed::constrain
