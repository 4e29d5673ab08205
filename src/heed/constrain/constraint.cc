#include "heed/constrain/constraint.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

constexpr size_t kMaxVocabularies = 4;
// What a call that uses an automaton may take: expressions are limited by the memory of the
// automaton before.
constexpr Expressions::Limits kLimits = {
    .nodes = size_t{1} << 21, .steps = size_t{1} << 20, .depth = 1000};

}  // namespace

Constraint::Constraint(GrammarBuilder builder, Symbol start) {
  Grammar grammar = compile(std::move(builder), start);
  slice_character_ = slice_character(grammar.expressions);
  grammar.expressions.set_limits(kLimits);
  grammar_ = std::make_shared<const Grammar>(std::move(grammar));
}

Constraint::Automaton::Automaton(std::shared_ptr<const Grammar> grammar,
                                 ExpressionId slice_character)
    : recognizer_(std::move(grammar), std::span(&slice_character, 1), kMaxMemory),
      cover_(recognizer_.lexer().expressions(), slice_character) {}

TokenMasks& Constraint::Automaton::masks(const std::shared_ptr<const Vocabulary>& vocabulary) {
  const auto known = std::ranges::find(masks_, vocabulary.get(),
                                       [](const auto& each) { return &each->vocabulary(); });
  if (known != masks_.end()) {
    std::rotate(known, known + 1, masks_.end());
  } else {
    if (masks_.size() == kMaxVocabularies) masks_.erase(masks_.begin());
    masks_.push_back(std::make_unique<TokenMasks>(recognizer_, cover_, vocabulary));
  }
  return *masks_.back();
}

ShortestText& Constraint::Automaton::shortest_text() {
  if (!shortest_text_) shortest_text_ = std::make_unique<ShortestText>(recognizer_);
  return *shortest_text_;
}

void Constraint::with_automaton(const std::function<void(Automaton&, uint64_t)>& use) const {
  MutexLock lock(mutex_);
  for (const bool is_last : {false, true}) {
    try {
      if (automaton_ == nullptr) {
        automaton_ = std::make_unique<Automaton>(grammar_, slice_character_);
        ++number_;
      }
      automaton_->recognizer().lexer().expressions().restart_steps();
      return use(*automaton_, number_);
    } catch (const TooManySteps&) {
      automaton_.reset();
      throw TooManySteps(fmt::format(
          "the constraint is too complex: what may follow here takes more than {} steps "
          "to find",
          kLimits.steps));
    } catch (const Error&) {
      // It may be incomplete.
      automaton_.reset();
      if (is_last) throw;
    }
  }
}

Symbol add_choice(GrammarBuilder& builder, std::span<const std::string> strings) {
  return builder.terminal(builder.expressions().one_of({strings.begin(), strings.end()}));
}

namespace {

template <typename Add>
std::shared_ptr<const Constraint> compiled(const Add& add) {
  GrammarBuilder builder;
  const Symbol start = add(builder);
  return std::make_shared<const Constraint>(std::move(builder), start);
}

}  // namespace

std::shared_ptr<const Constraint> compile_regex(std::string_view pattern, RegexDialect dialect) {
  return compiled([&](GrammarBuilder& builder) { return add_regex(builder, pattern, dialect); });
}

std::shared_ptr<const Constraint> compile_gbnf(std::string_view text) {
  return compiled([&](GrammarBuilder& builder) { return add_gbnf(builder, text); });
}

std::shared_ptr<const Constraint> compile_lark(std::string_view text) {
  return compiled([&](GrammarBuilder& builder) { return add_lark(builder, text); });
}

std::shared_ptr<const Constraint> compile_choice(std::span<const std::string> strings) {
  return compiled([&](GrammarBuilder& builder) { return add_choice(builder, strings); });
}

}  // namespace heed::constrain
