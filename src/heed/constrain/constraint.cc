#include "heed/constrain/constraint.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

constexpr size_t kMaxVocabularies = 4;
// What a text may take: expressions are limited by the memory of the automaton before.
constexpr Expressions::Limits kLimits = {
    .nodes = size_t{1} << 21, .steps = size_t{1} << 25, .depth = 1000};

}  // namespace

Constraint::Constraint(GrammarBuilder builder, Symbol start)
    : grammar_(compile(std::move(builder), start)),
      slice_character_(slice_character(grammar_.expressions)) {
  grammar_.expressions.set_limits(kLimits);
}

Constraint::Automaton::Automaton(const Grammar& grammar, ExpressionId slice_character)
    : grammar_(grammar),
      recognizer_(grammar, std::span(&slice_character, 1), kMaxMemory),
      cover_(recognizer_.lexer().expressions(), slice_character) {}

MaskTable& Constraint::Automaton::masks(const std::shared_ptr<const Vocabulary>& vocabulary) {
  const auto known = std::ranges::find(masks_, vocabulary.get(),
                                       [](const auto& each) { return &each->vocabulary(); });
  if (known != masks_.end()) {
    std::rotate(known, known + 1, masks_.end());
  } else {
    // Without tokens a matcher can only be given bytes.
    if (!vocabulary->token_bytes().empty()) require_text_of(grammar_, vocabulary->token_bytes());
    if (masks_.size() == kMaxVocabularies) masks_.erase(masks_.begin());
    masks_.push_back(std::make_unique<MaskTable>(recognizer_, cover_, vocabulary));
  }
  return *masks_.back();
}

void Constraint::with_automaton(const std::function<void(Automaton&, uint64_t)>& use) const {
  MutexLock lock(mutex_);
  for (const bool is_last : {false, true}) {
    try {
      if (automaton_ == nullptr) {
        automaton_ = std::make_unique<Automaton>(grammar_, slice_character_);
        ++number_;
      }
      return use(*automaton_, number_);
    } catch (const Error&) {
      // It may be incomplete.
      automaton_.reset();
      if (is_last) throw;
    }
  }
}

std::shared_ptr<const Constraint> compile_choice(std::span<const std::string> strings) {
  GrammarBuilder builder;
  const Symbol start =
      builder.terminal(builder.expressions().one_of({strings.begin(), strings.end()}));
  return std::make_shared<const Constraint>(std::move(builder), start);
}

}  // namespace heed::constrain
