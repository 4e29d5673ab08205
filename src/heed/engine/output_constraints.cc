#include "heed/engine/output_constraints.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/chat/answer_grammar.h"
#include "heed/constrain/schema/json_schema.h"
#include "heed/generate/generate_options.h"

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
constrain::Symbol add_content(constrain::GrammarBuilder& builder, const StructuredOutput& asked,
                              std::vector<std::string>& ignored) {
  require_input(members_set(asked) == 1,
                "an output can have one of json_schema, regex, gbnf, lark and choice, found {}",
                members_set(asked));
  check_all<generate::StructuredOutputOption>(asked);
  require_input(asked.json_white_space == JsonWhiteSpace::free || !asked.json_schema.empty(),
                "json_white_space is {} without a json_schema", name_of(asked.json_white_space));
  if (!asked.json_schema.empty())
    return constrain::add_json_schema(builder, asked.json_schema,
                                      {.white_space = asked.json_white_space}, &ignored);
  if (!asked.regex.empty()) return constrain::add_regex(builder, asked.regex);
  if (!asked.gbnf.empty()) return constrain::add_gbnf(builder, asked.gbnf);
  if (!asked.lark.empty()) return constrain::add_lark(builder, asked.lark);
  return constrain::add_choice(builder, asked.choice);
}

std::shared_ptr<const constrain::Constraint> compile(const StructuredOutput& asked,
                                                     const OutputTokens& tokens,
                                                     std::vector<std::string>& ignored) {
  constrain::GrammarBuilder builder;
  std::optional<constrain::Symbol> start;
  if (members_set(asked) > 0) start = add_content(builder, asked, ignored);
  if (asked.answer) {
    require_input(asked.answer->tools.empty() || !builder.ignores_anything(),
                  "a grammar with %ignore cannot be combined with tools");
    start = chat::add_answer(builder, *asked.answer, tokens.tokenizer, start);
  }
  if (tokens.forced_first >= 0) {
    const std::string text = generate::text_of_token(tokens.tokenizer, tokens.forced_first);
    start = builder.sequence({builder.terminal(builder.expressions().literal(text)), *start});
  }
  return std::make_shared<const constrain::Constraint>(std::move(builder), *start);
}

/// Without the options that the constraint does not depend on.
StructuredOutput compiled_part(StructuredOutput asked) {
  asked.complete = asked.free_log_probabilities = false;
  return asked;
}

}  // namespace

std::optional<OutputConstraints::Compiled> OutputConstraints::find(
    const StructuredOutput& asked) const {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(last_, compiled_part(asked), &Compiled::asked);
  return found == last_.end() ? std::nullopt : std::optional(*found);
}

OutputConstraints::Compiled OutputConstraints::compiled(const StructuredOutput& asked,
                                                        const OutputTokens& tokens) const {
  if (auto known = find(asked)) return *std::move(known);
  Compiled made{.asked = compiled_part(asked), .constraint = {}, .ignored = {}};
  made.constraint = compile(asked, tokens, made.ignored);
  const MutexLock lock(mutex_);
  last_.push_front(made);
  if (last_.size() > kMostConstraints) last_.pop_back();
  return made;
}

std::vector<std::string> OutputConstraints::ignored(const StructuredOutput& asked) const {
  const std::optional<Compiled> known = find(asked);
  return known ? known->ignored : std::vector<std::string>();
}

std::shared_ptr<const constrain::Vocabulary> OutputConstraints::vocabulary(
    const OutputTokens& tokens) const {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(vocabularies_, [&](const auto& one) {
    return std::ranges::equal(one->end_tokens(), tokens.end_tokens);
  });
  if (found != vocabularies_.end()) return *found;
  vocabularies_.push_front(
      generate::output_vocabulary(tokens.tokenizer, tokens.vocab_size, tokens.end_tokens));
  if (vocabularies_.size() > kMostVocabularies) vocabularies_.pop_back();
  return vocabularies_.front();
}

generate::OutputConstraint OutputConstraints::get(const StructuredOutput& asked,
                                                  const OutputTokens& tokens) const {
  if (members_set(asked) == 0 && !asked.answer) {
    require_input(asked == StructuredOutput(),
                  "options of a structured output are given, and nothing that it must match");
    return {};
  }
  return blame_input([&] {
    generate::OutputConstraint result{.constraint = compiled(asked, tokens).constraint,
                                      .vocabulary = vocabulary(tokens),
                                      .complete = asked.complete,
                                      .free_log_probabilities = asked.free_log_probabilities};
    // The vocabulary may lack what every text needs.
    constrain::Matcher(result.constraint, result.vocabulary);
    return result;
  });
}

}  // namespace heed::engine
