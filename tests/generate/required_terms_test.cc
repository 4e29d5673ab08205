#include "heed/generate/required_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/generate/beam.h"
#include "heed/generate/translator.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_translator.h"

namespace heed::generate {
namespace {

using Tokens = std::vector<int32_t>;
using Terms = std::shared_ptr<const RequiredTerms>;

constexpr int32_t kEnd = 0;

using Joints = std::shared_ptr<const TokenJoints>;

Terms terms_of(std::vector<RequiredTerm> terms, int64_t vocab_size = 60, Joints joints = nullptr) {
  return std::make_shared<RequiredTerms>(std::move(terms), vocab_size, std::move(joints));
}

TermProgress progress_of(const Terms& terms, const Tokens& tokens) {
  TermProgress progress(terms, 100);
  for (const int32_t token : tokens) progress.append(token);
  return progress;
}

/// By definition: occurrences of a term from left to right, the one that ends first before others,
/// and none that a word reaches into or out of.
bool contains(const Tokens& output, const RequiredTerm& term, const TokenJoints* joints) {
  const auto is_inside_word = [&](size_t position) {
    return joints && position > 0 && position < output.size() &&
           joints->joins(output[position - 1], output[position]);
  };
  int64_t found = 0;
  for (size_t begin = 0, end = 1; end <= output.size(); ++end)
    for (const Tokens& tokens : term.alternatives)
      if (end - begin >= tokens.size() && !is_inside_word(end) &&
          !is_inside_word(end - tokens.size()) &&
          std::equal(tokens.begin(), tokens.end(),
                     output.begin() + std::ptrdiff_t(end) - std::ssize(tokens))) {
        ++found;
        begin = end;
        break;
      }
  return found >= term.count;
}

bool contains(const Tokens& output, const std::vector<RequiredTerm>& terms,
              const TokenJoints* joints = nullptr) {
  return std::ranges::all_of(terms,
                             [&](const auto& term) { return contains(output, term, joints); });
}

/// Few different tokens, so that terms overlap, repeat themselves and lie inside others.
std::vector<RequiredTerm> random_terms(Random& random, int64_t classes) {
  std::vector<RequiredTerm> terms;
  for (int64_t i = 1 + random.below(2); i-- > 0;) {
    RequiredTerm term{.name = "random", .alternatives = {}, .count = random.once_in(4) ? 2 : 1};
    for (int64_t k = 1 + random.below(2); k-- > 0;) {
      Tokens tokens;
      for (int64_t n = 1 + random.below(3); n-- > 0;)
        tokens.push_back(static_cast<int32_t>(1 + random.below(classes - 1)));
      term.alternatives.push_back(std::move(tokens));
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

/// At least one alternative of each term begins with a token that never continues a word.
Joints random_joints(Random& random, int64_t classes, const std::vector<RequiredTerm>& terms) {
  while (true) {
    std::vector<bool> begins_inside, ends_inside;
    for (int64_t i = 0; i < classes; ++i) {
      begins_inside.push_back(i != kEnd && random.once_in(2));
      ends_inside.push_back(i != kEnd && random.once_in(2));
    }
    const auto joints = std::make_shared<const TokenJoints>(begins_inside, ends_inside);
    const auto stands_alone = [&](const Tokens& tokens) {
      return !joints->begins_inside(tokens.front());
    };
    if (std::ranges::all_of(terms, [&](const RequiredTerm& term) {
          return std::ranges::any_of(term.alternatives, stands_alone);
        }))
      return joints;
  }
}

TEST(TermProgress, FindsTheOccurrencesThatSearchingTheOutputFinds) {
  Random random(3);
  int complete = 0, in_words = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<RequiredTerm> terms = random_terms(random, 4);
    Tokens output;
    for (int64_t n = random.below(9); n-- > 0;)
      output.push_back(static_cast<int32_t>(1 + random.below(3)));
    // Terms with the same alternatives add up, as one would not expect of contains().
    if (terms.size() == 2 && terms_of(terms)->size() == 1) continue;
    const Joints joints = round % 2 ? random_joints(random, 4, terms) : nullptr;
    const bool expected = contains(output, terms, joints.get());
    ASSERT_EQ(progress_of(terms_of(terms, 60, joints), output).complete(), expected)
        << "round " << round;
    complete += expected;
    in_words += contains(output, terms) != expected;
  }
  EXPECT_GT(complete, 600);
  EXPECT_GT(in_words, 100);
}

TEST(TermProgress, ATokenThatContinuesTheWordUndoesAnOccurrence) {
  // "vim" and "imi": 5, 6; the end of a sentence: 7.
  const auto joints = std::make_shared<const TokenJoints>(
      std::vector{false, false, false, false, false, false, true, false},
      std::vector{false, false, false, false, false, true, true, false});
  const Terms terms = terms_of({{"vim", {{5}}}}, 8, joints);
  EXPECT_TRUE(progress_of(terms, {5}).complete());
  EXPECT_FALSE(progress_of(terms, {5, 6}).complete());
  EXPECT_TRUE(progress_of(terms, {5, 6, 5, 7, 5, 6}).complete());
  // The last two tokens cannot undo it: no room would be left.
  TermProgress progress(terms, 2);
  progress.append(5);
  std::vector<float> logits(8, 0.0f);
  progress.restrict(TokenLogits(logits), Tokens{kEnd});
  EXPECT_EQ(logits[6], kForbiddenLogit);
  EXPECT_EQ(logits[5], 0.0f);
  EXPECT_EQ(logits[kEnd], 0.0f);
}

TEST(TermProgress, ATermThatIsGivenTwiceMustOccurTwice) {
  const Terms terms = terms_of({{"a", {{5, 6}}}, {"a", {{5, 6}}}});
  EXPECT_EQ(terms->size(), 1u);
  EXPECT_EQ(terms->fewest_tokens(), 4);
  EXPECT_FALSE(progress_of(terms, {5, 6, 7}).complete());
  EXPECT_TRUE(progress_of(terms, {5, 6, 7, 5, 6}).complete());
  const Terms overlapping = terms_of({{"a", {{5, 5}}, 2}});
  EXPECT_FALSE(progress_of(overlapping, {5, 5, 5}).complete());
  EXPECT_TRUE(progress_of(overlapping, {5, 5, 5, 5}).complete());
}

TEST(TermProgress, ATermInsideAnotherOccursWithIt) {
  const Terms terms = terms_of({{"long", {{5, 6, 7}}}, {"inside", {{6}}}});
  EXPECT_TRUE(progress_of(terms, {5, 6, 7}).complete());
  EXPECT_FALSE(progress_of(terms, {6, 7}).complete());
}

TEST(TermProgress, ATokenThatBreaksATermOffMayBeginItAgain) {
  const Terms terms = terms_of({{"a", {{5, 5, 6}}}});
  EXPECT_TRUE(progress_of(terms, {5, 5, 5, 6}).complete());
  EXPECT_EQ(progress_of(terms, {5, 5, 5}).bank(), 2);
  EXPECT_EQ(progress_of(terms, {5, 5, 5}).next_tokens(), Tokens{6});
}

TEST(TermProgress, CountsStepsAndNamesTheTokensThatComeNearer) {
  const Terms terms = terms_of({{"a", {{5, 6, 7}}}, {"b", {{8, 9}, {8, 10}}}});
  const auto bank = [&](const Tokens& tokens) { return progress_of(terms, tokens).bank(); };
  EXPECT_EQ(progress_of(terms, {}).next_tokens(), (Tokens{5, 8}));
  EXPECT_EQ(bank({}), 0);
  EXPECT_EQ(bank({5}), 1);
  EXPECT_EQ(bank({8}), 2);  // one token is missing, as behind {5, 6}
  EXPECT_EQ(bank({8, 10}), 3);
  EXPECT_EQ(bank({5, 6, 8}), 2);
  EXPECT_EQ(progress_of(terms, {5, 6}).next_tokens(), Tokens{7});
  EXPECT_EQ(progress_of(terms, {8}).next_tokens(), (Tokens{9, 10}));
  EXPECT_EQ(progress_of(terms, {8, 9}).next_tokens(), Tokens{5});
  EXPECT_EQ(bank({8, 9, 5, 6, 7}), 6);
  EXPECT_TRUE(progress_of(terms, {8, 9, 5, 6, 7}).next_tokens().empty());
}

TEST(RequiredTerms, RefuseWhatNoOutputCanContainAndNameIt) {
  expect_error([] { terms_of({{"ship", {}}}); }, "the required term \"ship\" has no alternative");
  expect_error([] { terms_of({{"ship", {{}}}}); }, "\"ship\" has an alternative without tokens");
  expect_error(
      [] {
        terms_of({{"ship", {{3, 60}}}});
      },
      "\"ship\" has the token 60, the vocabulary has 60");
  expect_error([] { terms_of({{"ship", {{3}}, 0}}); }, "\"ship\" has the count 0");
  const Terms terms = terms_of({{"ship", {{3, 4, 5}, {6, 7}}, 2}, {"sea", {{9}}}});
  EXPECT_EQ(terms->fewest_tokens(), 5);
  terms->check(5, Tokens{kEnd});
  expect_error([&] { terms->check(4, Tokens{kEnd}); },
               "the required terms have 5 tokens, the output has room for 4");
  expect_error([&] { terms->check(9, Tokens{7}); }, "\"ship\" has a token that ends an output");
}

/// A model of outputs: the log-probability of each token behind each output, by its hash.
std::vector<float> log_probabilities_behind(const Tokens& output, int64_t classes, uint64_t seed) {
  uint64_t hash = seed;
  for (const int32_t token : output)
    hash = hash * 1099511628211u + static_cast<uint64_t>(token) + 1;
  const CounterRandom random(hash);
  std::vector<float> values;
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) {
    values.push_back(static_cast<float>(random.below(static_cast<uint64_t>(i), 4000)) / 1000.0f);
    sum += std::exp(static_cast<double>(values.back()));
  }
  for (float& value : values) value -= static_cast<float>(std::log(sum));
  return values;
}

struct TinySearch {
  int64_t classes, most_tokens;
  uint64_t seed;
  std::vector<RequiredTerm> terms;
  Joints joints = nullptr;

  std::vector<SearchResult> by_beam(int width) const {
    Beam beam({.num_beams = width, .n_best = width, .length_penalty = 0.0f}, {kEnd}, most_tokens);
    if (!terms.empty())
      beam.sequences().front().terms.emplace(terms_of(terms, classes, joints), most_tokens);
    while (!beam.sequences().empty()) {
      std::vector<std::vector<float>> rows;
      for (const Sequence& sequence : beam.sequences())
        rows.push_back(log_probabilities_behind(sequence.tokens, classes, seed));
      std::vector<TokenLogits> logits(rows.begin(), rows.end());
      EXPECT_TRUE(beam.advance(logits));
    }
    return beam.best();
  }

  /// All outputs with the terms, by their probability.
  void enumerate(const Tokens& output, double log_probability,
                 std::multimap<double, Tokens>& outputs) const {
    if (std::ssize(output) == most_tokens) {
      if (contains(output, terms)) outputs.emplace(-log_probability, output);
      return;
    }
    const std::vector<float> next = log_probabilities_behind(output, classes, seed);
    if (contains(output, terms))
      outputs.emplace(-log_probability - static_cast<double>(next[kEnd]), output);
    for (int32_t token = 1; token < classes; ++token) {
      Tokens longer = output;
      longer.push_back(token);
      enumerate(longer, log_probability + static_cast<double>(next[static_cast<size_t>(token)]),
                outputs);
    }
  }
};

TEST(RequiredTerms, EveryHypothesisOfEveryBeamContainsThem) {
  Random random(11);
  int compared = 0;
  for (uint64_t seed = 0; seed < 800; ++seed) {
    TinySearch search{7, 8, seed, random_terms(random, 7)};
    if (seed % 2) search.joints = random_joints(random, 7, search.terms);
    if (terms_of(search.terms)->size() != search.terms.size()) continue;
    if (terms_of(search.terms, 60, search.joints)->fewest_tokens() > search.most_tokens) continue;
    for (const int width : {2, 3, 5}) {
      const auto found = search.by_beam(width);
      ASSERT_FALSE(found.empty());
      for (const SearchResult& result : found) {
        ASSERT_TRUE(contains(result.hypothesis.tokens, search.terms, search.joints.get()))
            << "seed " << seed;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 4000);
}

bool share_a_token(const RequiredTerm& a, const RequiredTerm& b) {
  for (const Tokens& x : a.alternatives)
    for (const Tokens& y : b.alternatives)
      if (std::ranges::find_first_of(x, y) != x.end()) return true;
  return false;
}

/// Terms with common tokens may fit into less room than a search reserves for them.
TEST(RequiredTerms, ABeamOfAllOutputsFindsTheMostProbableOneThatContainsThem) {
  Random random(12);
  int compared = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    const TinySearch search{4, 4, seed, random_terms(random, 4)};
    if (search.terms.size() == 2 && share_a_token(search.terms[0], search.terms[1])) continue;
    if (terms_of(search.terms)->fewest_tokens() > search.most_tokens) continue;
    std::multimap<double, Tokens> outputs;
    search.enumerate({}, 0, outputs);
    const auto found = search.by_beam(256);
    ASSERT_EQ(found.size(), outputs.size()) << "seed " << seed;
    auto expected = outputs.begin();
    for (const SearchResult& result : found) {
      ASSERT_NEAR(result.hypothesis.log_probability, -expected->first, 1e-4);
      EXPECT_TRUE(contains(result.hypothesis.tokens, search.terms)) << "seed " << seed;
      ++expected;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(RequiredTerms, EveryTranslationHasThemAndLinesWithoutThemKeepTheirBits) {
  const auto model = varied_translator();
  const std::vector<std::string> lines = translator_lines(40);
  const std::vector<RequiredTerm> terms{
      required_term(translator_tokenizer(), std::vector<std::string>{"sailor"}, 2),
      required_term(translator_tokenizer(), std::vector<std::string>{"the old", "forgot"})};
  const auto shared = terms_of(terms, translator_tokenizer().vocab_size());
  const auto has_terms = [](const std::string& line) { return line.size() % 2 == 0; };
  Translator::Options options{.search = {.num_beams = 4, .n_best = 4}, .batch_tokens = 512};
  const Translator free_translator(*model, translator_tokenizer(), options);
  options.terms_of = [&](const std::string& line, std::span<const int32_t>) {
    return has_terms(line) ? shared : nullptr;
  };
  const Translator translator(*model, translator_tokenizer(), options);
  const auto free = free_translator.translate(lines);
  const auto found = translator.translate(lines);
  const Threads set(3);
  const auto again = translator.translate(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(found[i].candidates.empty(), free[i].candidates.empty());
    for (size_t k = 0; k < found[i].candidates.size(); ++k) {
      const Hypothesis& hypothesis = found[i].candidates[k].hypothesis;
      EXPECT_EQ(hypothesis.tokens, again[i].candidates[k].hypothesis.tokens);
      EXPECT_EQ(hypothesis.score, again[i].candidates[k].hypothesis.score);
      if (has_terms(lines[i])) {
        EXPECT_TRUE(contains(hypothesis.tokens, terms)) << lines[i];
        continue;
      }
      EXPECT_EQ(hypothesis.tokens, free[i].candidates[k].hypothesis.tokens);
      EXPECT_EQ(hypothesis.score, free[i].candidates[k].hypothesis.score);
    }
  }
}

TEST(RequiredTerms, ATermIsTokenizedAsInsideATextAndRefusedIfTheVocabularyLacksIt) {
  const auto& tokenizer = translator_tokenizer();
  const RequiredTerm term = required_term(tokenizer, std::vector<std::string>{"sailor"}, 3);
  EXPECT_EQ(term.count, 3);
  ASSERT_FALSE(term.alternatives.empty());
  for (const Tokens& tokens : term.alternatives)
    EXPECT_EQ(tokenizer.decode_target(tokens), "sailor");
  expect_error(
      [&] {
        required_term(tokenizer, std::vector<std::string>{"ok", "\u4e16"});
      },
      "the required term \"\u4e16\" has characters that the vocabulary lacks");
  expect_error([&] { required_term(tokenizer, std::vector<std::string>{" "}); },
               "the required term \" \" is empty");
}

TEST(RequiredTerms, AreRefusedByLineWhereTheyDoNotFitAndByGreedySearch) {
  const auto model = varied_translator();
  const auto terms = terms_of({{"long", {{9}}, 8}}, translator_tokenizer().vocab_size());
  const auto translate = [&](SearchOptions search) {
    const auto of_sailors = [&](const std::string& line, std::span<const int32_t>) {
      return line == "old sailor" ? terms : nullptr;
    };
    Translator(*model, translator_tokenizer(), {.search = search, .terms_of = of_sailors})
        .translate({"the", "old sailor", "the"}, 5);
  };
  expect_error([&] { translate({.num_beams = 1}); },
               "line 6: required terms need beam search: num_beams is 1");
  expect_error([&] { translate({.num_beams = 4, .max_new_tokens = 7}); },
               "line 6: the required terms have 8 tokens, the output has room for 7");
  translate({.num_beams = 4, .max_new_tokens = 8});
}

}  // namespace
}  // namespace heed::generate
