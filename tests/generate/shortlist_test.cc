#include "heed/generate/shortlist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heed/base/file.h"
#include "heed/generate/beam.h"
#include "heed/generate/scheduler.h"
#include "heed/generate/shortlist_head.h"
#include "heed/generate/translator.h"
#include "heed/quantize/quantization.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/generate/small_translator.h"

namespace heed::generate {
namespace {

class Shortlists : public testing::Test {
 protected:
  std::filesystem::path written(const std::string& text) const {
    write_file_atomically(folder_ / "lex.s2t", text);
    return folder_ / "lex.s2t";
  }
  Shortlist read(const std::string& text) const {
    return Shortlist::read(written(text), tokenizer_, tokenizer_.vocab_size());
  }
  std::string line(int32_t target, int32_t source, const char* probability) const {
    return tokenizer_.piece(target) + " " + tokenizer_.source_piece(source) + " " + probability +
           "\n";
  }
  /// Each token has one translation beside itself, and one token is frequent.
  std::string some_lines() const {
    std::string text = tokenizer_.piece(70) + " NULL 0.1\n";
    const auto tokens = static_cast<int32_t>(tokenizer_.vocab_size());
    for (int32_t token = 3; token < tokens; ++token)
      text += line((token * 7 + 31) % tokens, token, "0.1");
    return text;
  }

  TemporaryDirectory folder_;
  const text::TranslationTokenizer& tokenizer_ = translator_tokenizer();
};

TEST_F(Shortlists, HaveTheMostProbableTokensOfEachSourceTokenAndTheFrequentOnes) {
  const Shortlist shortlist =
      read(tokenizer_.piece(20) + " NULL 0.5\n" + line(30, 10, "0.25") + line(31, 10, "1e-3") +
           tokenizer_.piece(21) + "\tNULL\t0.4\n" + line(32, 11, "1"));
  const auto tokens = [&](const std::vector<int32_t>& source) {
    return *shortlist.tokens_for(source, {.eos_ids = {2}});
  };
  EXPECT_EQ(tokens({}), (std::vector<int32_t>{2, 20, 21}));
  EXPECT_EQ(tokens({10}), (std::vector<int32_t>{2, 10, 20, 21, 30, 31}));
  EXPECT_EQ(tokens({11, 10, 11}), (std::vector<int32_t>{2, 10, 11, 20, 21, 30, 31, 32}));
}

TEST_F(Shortlists, HaveTheTokensThatRulesForceAndTermsNeed) {
  const Shortlist shortlist = read(tokenizer_.piece(20) + " NULL 0.5\n");
  const RequiredTerms terms({{.name = "term", .alternatives = {{40, 41}, {42}}}},
                            tokenizer_.vocab_size());
  EXPECT_EQ(*shortlist.tokens_for({}, {.eos_ids = {2}, .forced_bos_id = 5, .forced_eos_ids = {6}},
                                  &terms),
            (std::vector<int32_t>{2, 5, 6, 20, 40, 41, 42}));
}

TEST_F(Shortlists, UseAtMostAHundredTokensOfASourceToken) {
  std::string text = tokenizer_.piece(20) + " NULL 0.5\n";
  for (int32_t target = 10; target < 120; ++target)
    text += line(target, 5, ("0." + std::to_string(1000 - target)).c_str());
  const TokenList tokens = read(text).tokens_for(std::vector<int32_t>{5}, {});
  EXPECT_EQ(tokens->size(), 101u);  // and itself; the frequent one is among them
  EXPECT_TRUE(std::ranges::binary_search(*tokens, 109));
  EXPECT_FALSE(std::ranges::binary_search(*tokens, 110));
}

TEST_F(Shortlists, TakeTheFirstTokensOfTheVocabularyForFrequentOnesAsMarianDoes) {
  const TokenList tokens = read(line(110, 10, "0.5")).tokens_for({}, {});
  std::vector<int32_t> first(100);
  std::iota(first.begin(), first.end(), 0);
  EXPECT_EQ(*tokens, first);
}

TEST_F(Shortlists, NameALineThatIsNone) {
  for (const char* bad : {"a b", "a b c", "a b 2", "a b -0.1", "a b nan", "a b 0.5 c", ""})
    expect_error([&] { read(line(30, 10, "0.25") + bad + "\n"); },
                 "lex.s2t line 2: expected a target token, a source token and a probability");
}

TEST_F(Shortlists, SkipFewUnknownPiecesAndRefuseAnotherVocabulary) {
  EXPECT_NO_THROW(read(line(30, 10, "0.25") + "zzzz yyyy 0.5\n"));
  expect_error([&] { read(line(30, 10, "0.25") + "zzzz yyyy 0.5\nyyyy NULL 0.1\n"); },
               "2 of 3 lines have tokens that the model lacks: the shortlist was made for another "
               "vocabulary");
}

/// The model as it is loaded for each arithmetic.
std::unique_ptr<model::Transformer> packed_translator(Compute compute) {
  auto model = varied_translator();
  if (compute == Compute::int8) quantize::quantize(*model, {.dtype = DType::q8_0});
  model->pack(compute);
  return model;
}

TEST_F(Shortlists, LogitsOfTheListedTokensHaveTheSameBits) {
  for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    const auto model = packed_translator(compute);
    const DType dtype = activation_dtype(compute);
    Tensor states = Tensor::empty({7, model->config().d_model}, dtype);
    for (int64_t i = 0; i < states.elements(); ++i) {
      const float value = static_cast<float>((i * 37) % 101) / 50 - 1;
      if (dtype == DType::bf16)
        states.data<bfloat16>()[i] = bfloat16(value);
      else
        states.data<float>()[i] = value;
    }
    Context context{.dtype = dtype};
    const Tensor all = model->logits(context, states);
    ShortlistHead head(*model);
    const std::vector<TokenList> lists{
        std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{2, 5, 70}),
        std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{5, 6, 111})};
    ASSERT_TRUE(head.choose(std::vector<ShortlistHead::Part>{{3, lists[0]}, {4, lists[1]}}));
    const std::vector<Tensor> parts = head.logits(context, states);
    for (int64_t row = 0; row < states.rows(); ++row) {
      const auto part = static_cast<size_t>(row >= 3);
      for (size_t i = 0; i < lists[part]->size(); ++i)
        EXPECT_EQ(parts[part].row_slice(row - 3 * (row >= 3), parts[part].rows()).data<float>()[i],
                  all.data<float>()[row * all.cols() + (*lists[part])[i]])
            << name_of(compute);
    }
    EXPECT_FALSE(head.choose(std::vector<ShortlistHead::Part>{{3, lists[0]}, {4, nullptr}}));
  }
}

std::vector<Translation> translated(const model::Transformer& model,
                                    const std::shared_ptr<const Shortlist>& shortlist,
                                    const std::vector<std::string>& lines, int beams,
                                    int64_t batch_tokens = 1 << 20) {
  return Translator(model, translator_tokenizer(),
                    {.search = {.num_beams = beams, .n_best = beams},
                     .batch_tokens = batch_tokens,
                     .scores = true,
                     .shortlist = shortlist})
      .translate(lines);
}

TEST_F(Shortlists, ATranslationHasListedTokensAloneAndDoesNotDependOnTheBatch) {
  const auto shortlist = std::make_shared<const Shortlist>(read(some_lines()));
  const std::vector<std::string> lines = translator_lines(40);
  const TokenRules rules{.eos_ids = translator_config().eos_ids()};
  for (const Compute compute : {Compute::f32, Compute::int8}) {
    const auto model = packed_translator(compute);
    for (const int beams : {1, 4}) {
      const auto expected = translated(*model, shortlist, lines, beams);
      const auto free = translated(*model, nullptr, lines, beams);
      int64_t unlisted_before = 0;
      for (size_t i = 0; i < lines.size(); ++i) {
        const TokenList tokens = shortlist->tokens_for(expected[i].source, rules);
        const auto is_listed = [&](int32_t token) {
          return std::ranges::binary_search(*tokens, token);
        };
        for (const Candidate& candidate : expected[i].candidates)
          EXPECT_TRUE(std::ranges::all_of(candidate.hypothesis.tokens, is_listed)) << lines[i];
        for (const Candidate& candidate : free[i].candidates)
          unlisted_before += !std::ranges::all_of(candidate.hypothesis.tokens, is_listed);
      }
      if (beams > 1) {
        EXPECT_GT(unlisted_before, 0);
      }
      {
        const Threads set(3);
        const auto found = translated(*model, shortlist, lines, beams, 512);
        for (size_t i = 0; i < lines.size(); ++i)
          for (size_t k = 0; k < expected[i].candidates.size(); ++k) {
            EXPECT_EQ(found[i].candidates[k].hypothesis.tokens,
                      expected[i].candidates[k].hypothesis.tokens);
            EXPECT_EQ(found[i].candidates[k].hypothesis.score,
                      expected[i].candidates[k].hypothesis.score);
          }
      }
    }
  }
}

TEST_F(Shortlists, OfAllTokensChangeNoTranslation) {
  const auto model = varied_translator();
  BeamState all({.num_beams = 4}, {.source = {5, 6, 2}, .prompt = {1}, .max_new_tokens = 9},
                {.eos_ids = {2}});
  BeamState listed({.num_beams = 4}, {.source = {5, 6, 2}, .prompt = {1}, .max_new_tokens = 9},
                   {.eos_ids = {2}});
  std::vector<int32_t> every(static_cast<size_t>(tokenizer_.vocab_size()));
  std::iota(every.begin(), every.end(), 0);
  Scheduler scheduler(*model, {});
  scheduler.add({.source = {5, 6, 2}, .decoding = &all, .max_tokens = 50});
  scheduler.add({.source = {5, 6, 2},
                 .decoding = &listed,
                 .max_tokens = 50,
                 .shortlist = std::make_shared<const std::vector<int32_t>>(every)});
  while (!scheduler.idle()) scheduler.step();
  ASSERT_EQ(listed.best().size(), all.best().size());
  for (size_t i = 0; i < all.best().size(); ++i) {
    EXPECT_EQ(listed.best()[i].hypothesis.tokens, all.best()[i].hypothesis.tokens);
    EXPECT_EQ(listed.best()[i].hypothesis.score, all.best()[i].hypothesis.score);
  }
}

TEST_F(Shortlists, ATranslationHasItsRequiredTermsToo) {
  const auto shortlist = std::make_shared<const Shortlist>(read(some_lines()));
  const auto model = varied_translator();
  const auto terms = std::make_shared<const RequiredTerms>(
      std::vector<RequiredTerm>{{.name = "term", .alternatives = {{40, 41}}}},
      tokenizer_.vocab_size());
  const auto terms_of = [&](const std::string& line, std::span<const int32_t>) {
    return line == "the" ? nullptr : terms;
  };
  const Translator translator(
      *model, tokenizer_,
      {.search = {.num_beams = 4}, .terms_of = terms_of, .shortlist = shortlist});
  const auto found = translator.translate({"the old sailor", "the"});
  const std::vector<int32_t>& tokens = found[0].candidates.front().hypothesis.tokens;
  EXPECT_NE(std::ranges::search(tokens, std::vector<int32_t>{40, 41}).begin(), tokens.end());
}

}  // namespace
}  // namespace heed::generate
