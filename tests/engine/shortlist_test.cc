#include "heed/shortlist.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/session.h"
#include "tests/base/testing.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

class Shortlisted : public testing::Test {
 protected:
  Shortlisted() {
    std::string source, target;
    for (int i = 0; i < 40; ++i) {
      source += i % 2 ? "the old sailor forgot\n" : "the sea\n";
      target += i % 2 ? "le vieux marin oublia\n" : "la mer\n";
    }
    write_file_atomically(folder_ / "a", source);
    write_file_atomically(folder_ / "b", target);
  }
  ShortlistOptions options() const { return {.source = folder_ / "a", .target = folder_ / "b"}; }

  TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_ / "lex.s2t";
};

TEST_F(Shortlisted, ATranslatorIsLoadedWithTheShortlistOfAText) {
  const ShortlistResult made = make_shortlist(models().translator(), file_, options());
  EXPECT_EQ(made.pairs, 40);
  EXPECT_GT(made.entries, 20);
  EXPECT_EQ(made.coverage, 1);
  EXPECT_LT(made.mean_tokens, 60);
  EXPECT_EQ(made.vocab_size, Model::load(models().translator()).vocab_size());
  const Model listed = Model::load(models().translator(), {.shortlist = file_});
  const Translation found = listed.translate("the sea", {.search = {.num_beams = 3, .n_best = 3}});
  const Translation free = Model::load(models().translator()).translate("the sea");
  EXPECT_NE(found.text(), free.text());
  const std::string lines = "\n" + read_file(file_);
  const std::vector<int32_t> source = listed.source_tokens("the sea");
  for (const Candidate& candidate : found.candidates)
    for (const int32_t token : candidate.hypothesis.tokens)
      EXPECT_TRUE(std::ranges::find(source, token) != source.end() ||
                  lines.find("\n" + listed.token_text(token) + " ") != lines.npos)
          << listed.token_text(token);
}

TEST_F(Shortlisted, ASessionTranslatesAsTheModelDoes) {
  make_shortlist(models().translator(), file_, options());
  const Model model = Model::load(models().translator(), {.shortlist = file_});
  Session session(model);
  std::vector<Candidate> found;
  session.add({.prompt = std::string("the old sea"), .search = SearchOptions{.num_beams = 4}},
              [&](const Delta& delta) {
                if (delta.candidates) found = *delta.candidates;
                return true;
              });
  while (session.step()) {
  }
  const Translation expected = model.translate("the old sea");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].hypothesis.tokens, expected.candidates[0].hypothesis.tokens);
  EXPECT_EQ(found[0].hypothesis.score, expected.candidates[0].hypothesis.score);
}

TEST_F(Shortlisted, EveryKindOfTranslatorHasOne) {
  for (const char* name :
       {"m2m-100", "mbart", "mbart-50", "nllb", "opus-mt", "opus-mt-multi", "opus-mt-separate"}) {
    const auto folder = std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/translation" / name;
    const nlohmann::json expected = parse_json(read_file(folder / "expected.json"), name);
    const ShortlistResult made = make_shortlist(folder, file_, options());
    EXPECT_GT(made.coverage, 0.9) << name;
    const Model model = Model::load(folder, {.shortlist = file_});
    const TranslateOptions how{.search = {.num_beams = 2, .max_new_tokens = 6},
                               .source_language = expected["source_language"].get<std::string>(),
                               .target_language = expected["target_language"].get<std::string>()};
    const auto alone = model.translate(expected["lines"][0]["text"].get<std::string>(), how);
    EXPECT_EQ(alone.candidates.size(), 1u) << name;
  }
}

TEST_F(Shortlisted, OtherModelsAndFilesAreRefused) {
  make_shortlist(models().translator(), file_, options());
  expect_error([&] { Model::load(models().decoder(), {.shortlist = file_}); },
               "is a shortlist for one");
  expect_error([&] { Model::load(models().translator(), {.shortlist = folder_ / "none"}); },
               "none: cannot be opened");
  expect_error([&] { make_shortlist(models().decoder(), file_, options()); }, "is no translator");
  ShortlistOptions wrong = options();
  wrong.best = 0;
  expect_error([&] { make_shortlist(models().translator(), file_, wrong); },
               "best is 0, expected 1 to 100");
  wrong = options();
  wrong.target = folder_ / "none";
  expect_error([&] { make_shortlist(models().translator(), file_, wrong); }, "none");
}

}  // namespace
}  // namespace heed::engine
