#include "heed/engine/output_constraints.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/constrain/schema/json_schema.h"
#include "heed/generate/generate_options.h"

namespace heed::engine {
namespace {

/// Constraints that are kept, of 64 MiB at most each.
constexpr size_t kMostConstraints = 16;
/// Those of chats and of completions differ in the tokens that end an output.
constexpr size_t kMostVocabularies = 4;

std::shared_ptr<const constrain::Constraint> compile(const StructuredOutput& asked,
                                                     std::vector<std::string>& ignored) {
  const int set = !asked.json_schema.empty() + !asked.regex.empty() + !asked.gbnf.empty() +
                  !asked.lark.empty() + !asked.choice.empty();
  require_input(set == 1,
                "an output can have one of json_schema, regex, gbnf, lark and choice, found {}",
                set);
  check_all<generate::StructuredOutputOption>(asked);
  require_input(asked.json_white_space == JsonWhiteSpace::free || !asked.json_schema.empty(),
                "json_white_space is {} without a json_schema", name_of(asked.json_white_space));
  if (!asked.json_schema.empty()) {
    constrain::SchemaOptions options;
    options.white_space = asked.json_white_space;
    return constrain::compile_json_schema(asked.json_schema, options, &ignored);
  }
  if (!asked.regex.empty()) return constrain::compile_regex(asked.regex);
  if (!asked.gbnf.empty()) return constrain::compile_gbnf(asked.gbnf);
  if (!asked.lark.empty()) return constrain::compile_lark(asked.lark);
  return constrain::compile_choice(asked.choice);
}

}  // namespace

OutputConstraints::Compiled OutputConstraints::compiled(const StructuredOutput& asked) const {
  {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(last_, asked, &Compiled::asked);
    if (found != last_.end()) return *found;
  }
  Compiled made{.asked = asked, .constraint = {}, .ignored = {}};
  made.constraint = compile(asked, made.ignored);
  const MutexLock lock(mutex_);
  last_.push_front(made);
  if (last_.size() > kMostConstraints) last_.pop_back();
  return made;
}

std::vector<std::string> OutputConstraints::prepare(const StructuredOutput& asked) const {
  if (asked == StructuredOutput()) return {};
  return blame_input([&] { return compiled(asked).ignored; });
}

generate::OutputConstraint OutputConstraints::get(const StructuredOutput& asked,
                                                  const text::Tokenizer& tokenizer,
                                                  int64_t vocab_size,
                                                  std::vector<int32_t> end_tokens) const {
  if (asked == StructuredOutput()) return {};
  generate::OutputConstraint result{.constraint =
                                        blame_input([&] { return compiled(asked).constraint; })};
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
