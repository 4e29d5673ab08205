#include "heed/engine/output_constraints.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/constrain/schema/json_schema.h"

namespace heed::engine {
namespace {

/// Constraints that are kept, of 64 MiB at most each.
constexpr size_t kMostConstraints = 16;
/// Those of chats and of completions differ in the tokens that end an output.
constexpr size_t kMostVocabularies = 4;

std::shared_ptr<const constrain::Constraint> compile(const StructuredOutput& asked) {
  const int set = !asked.json_schema.empty() + !asked.regex.empty() + !asked.gbnf.empty() +
                  !asked.lark.empty() + !asked.choice.empty();
  require_input(set == 1,
                "an output can have one of json_schema, regex, gbnf, lark and choice, found {}",
                set);
  if (!asked.json_schema.empty()) return constrain::compile_json_schema(asked.json_schema);
  if (!asked.regex.empty()) return constrain::compile_regex(asked.regex);
  if (!asked.gbnf.empty()) return constrain::compile_gbnf(asked.gbnf);
  if (!asked.lark.empty()) return constrain::compile_lark(asked.lark);
  return constrain::compile_choice(asked.choice);
}

}  // namespace

std::shared_ptr<const constrain::Constraint> OutputConstraints::compiled(
    const StructuredOutput& asked) const {
  const auto same = [&](const auto& one) { return one.first == asked; };
  {
    const MutexLock lock(mutex_);
    if (const auto found = std::ranges::find_if(last_, same); found != last_.end())
      return found->second;
  }
  auto made = compile(asked);
  const MutexLock lock(mutex_);
  last_.emplace_front(asked, made);
  if (last_.size() > kMostConstraints) last_.pop_back();
  return made;
}

generate::OutputConstraint OutputConstraints::get(const StructuredOutput& asked,
                                                  const text::Tokenizer& tokenizer,
                                                  int64_t vocab_size,
                                                  std::vector<int32_t> end_tokens) const {
  if (asked == StructuredOutput()) return {};
  generate::OutputConstraint result{.constraint = blame_input([&] { return compiled(asked); })};
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
