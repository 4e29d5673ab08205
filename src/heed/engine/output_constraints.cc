#include "heed/engine/output_constraints.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/chat/answer_grammar.h"
#include "heed/constrain/schema/json_schema.h"

namespace heed::engine {
namespace {

/// Constraints that are kept, of 64 MiB at most each.
constexpr size_t kMostConstraints = 16;
/// Those of chats and of completions differ in the tokens that end an output.
constexpr size_t kMostVocabularies = 4;

int members_set(const StructuredOutput& asked) {
  return !asked.json_schema.empty() + !asked.regex.empty() + !asked.gbnf.empty() +
         !asked.lark.empty() + !asked.choice.empty();
}

/// What the content of an output must match, added to a grammar.
constrain::Symbol add_content(constrain::GrammarBuilder& builder, const StructuredOutput& asked) {
  require_input(members_set(asked) == 1,
                "an output can have one of json_schema, regex, gbnf, lark and choice, found {}",
                members_set(asked));
  if (!asked.json_schema.empty()) return constrain::add_json_schema(builder, asked.json_schema);
  if (!asked.regex.empty()) return constrain::add_regex(builder, asked.regex);
  if (!asked.gbnf.empty()) return constrain::add_gbnf(builder, asked.gbnf);
  if (!asked.lark.empty()) return constrain::add_lark(builder, asked.lark);
  return constrain::add_choice(builder, asked.choice);
}

std::shared_ptr<const constrain::Constraint> compile(const StructuredOutput& asked,
                                                     const text::Tokenizer& tokenizer) {
  constrain::GrammarBuilder builder;
  std::optional<constrain::Symbol> start;
  if (members_set(asked) > 0) start = add_content(builder, asked);
  if (asked.answer) {
    require_input(asked.answer->tools.empty() || !builder.ignores_anything(),
                  "a grammar with %ignore cannot be combined with tools");
    start = chat::add_answer(builder, *asked.answer, tokenizer, start);
  }
  return std::make_shared<const constrain::Constraint>(std::move(builder), *start);
}

}  // namespace

std::shared_ptr<const constrain::Constraint> OutputConstraints::compiled(
    const StructuredOutput& asked, const text::Tokenizer& tokenizer) const {
  StructuredOutput key = asked;
  key.complete = key.free_log_probabilities = false;
  const auto same = [&](const auto& one) { return one.first == key; };
  {
    const MutexLock lock(mutex_);
    if (const auto found = std::ranges::find_if(last_, same); found != last_.end())
      return found->second;
  }
  auto made = compile(asked, tokenizer);
  const MutexLock lock(mutex_);
  last_.emplace_front(std::move(key), made);
  if (last_.size() > kMostConstraints) last_.pop_back();
  return made;
}

generate::OutputConstraint OutputConstraints::get(const StructuredOutput& asked,
                                                  const text::Tokenizer& tokenizer,
                                                  int64_t vocab_size,
                                                  std::vector<int32_t> end_tokens) const {
  if (members_set(asked) == 0 && !asked.answer) return {};
  generate::OutputConstraint result{
      .constraint = blame_input([&] { return compiled(asked, tokenizer); }),
      .complete = asked.complete,
      .free_log_probabilities = asked.free_log_probabilities};
  {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find_if(vocabularies_, [&](const auto& one) {
      return std::ranges::equal(one->end_tokens(), end_tokens);
    });
    if (found != vocabularies_.end()) {
      result.vocabulary = *found;
    } else {
      result.vocabulary = generate::output_vocabulary(tokenizer, vocab_size, std::move(end_tokens));
      vocabularies_.push_front(result.vocabulary);
      if (vocabularies_.size() > kMostVocabularies) vocabularies_.pop_back();
    }
  }
  // The vocabulary may lack what every text needs.
  blame_input([&] { constrain::Matcher(result.constraint, result.vocabulary); });
  return result;
}

}  // namespace heed::engine
