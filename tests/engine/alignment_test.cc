// Alignments of a translation come from the passes of its search.
#include "heed/generate/alignment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/interrupt.h"
#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kLines{"the old sailor forgot", "the sea", "a ship",
                                      "in the old sea out went the ship", "forgot"};

TranslateOptions three_best(bool alignments) {
  TranslateOptions options{.alignments = alignments};
  options.search.n_best = 3;
  return options;
}

Request request_for(const std::string& line, bool alignments) {
  return {.prompt = line, .search = three_best(alignments).search, .alignments = alignments};
}

TEST(Alignments, OfATranslationCostNoOtherPass) {
  // An InterruptScope is asked before each layer; on one thread, nobody else asks.
  const Model model =
      Model::load(models().translator(), {.executor = std::make_shared<Executor>(1)});
  const auto layers_of = [&](const TranslateOptions& options) {
    int layers = 0;
    const InterruptScope scope([&] { return ++layers == 0; }, 0ms);
    model.translate_batch(kLines, options);
    return layers;
  };
  EXPECT_GT(layers_of(three_best(false)), 0);
  EXPECT_EQ(layers_of(three_best(true)), layers_of(three_best(false)));
}

TEST(Alignments, OfASessionCostNoOtherPass) {
  const Model model =
      Model::load(models().translator(), {.executor = std::make_shared<Executor>(1)});
  const auto layers_of = [&](bool alignments) {
    int layers = 0;
    Session session(model, {.interrupted = [&] { return ++layers == 0; }});
    for (const std::string& line : kLines)
      session.add(request_for(line, alignments), [](const Delta&) { return true; });
    while (session.step()) {
    }
    return layers;
  };
  EXPECT_GT(layers_of(false), 0);
  EXPECT_EQ(layers_of(true), layers_of(false));
}

TEST(Alignments, OfASessionAreThoseOfTranslateForTheRequestsThatWantThem) {
  for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    const Model model = Model::load(models().translator(), {.compute = compute});
    Session session(model, {.max_active_tokens = 400});
    size_t ended = 0, pairs = 0;
    for (size_t i = 0; i < 3 * kLines.size(); ++i) {
      const std::string& line = kLines[i % kLines.size()];
      const bool alignments = i % 4 != 1;
      session.add(request_for(line, alignments), [&, line, alignments](const Delta& delta) {
        const auto expected = model.translate(line, three_best(alignments)).candidates;
        EXPECT_EQ(delta.candidates->size(), expected.size());
        for (size_t c = 0; c < expected.size(); ++c) {
          const Candidate& found = (*delta.candidates)[c];
          EXPECT_EQ(found.text, expected[c].text);
          EXPECT_EQ(pharaoh(found.alignment), pharaoh(expected[c].alignment));
          EXPECT_TRUE(alignments || found.alignment.empty());
          pairs += found.alignment.size();
        }
        ++ended;
        return true;
      });
      session.step();
    }
    while (session.step()) {
    }
    EXPECT_EQ(ended, 3 * kLines.size());
    EXPECT_GT(pairs, 30u);
  }
}

TEST(Alignments, AreRefusedByAModelThatDoesNotTranslate) {
  const Model model = Model::load(models().decoder());
  Session session(model);
  try {
    session.add({.prompt = "the", .alignments = true}, [](const Delta&) { return true; });
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "alignments were requested, but this model does not translate");
  }
}

}  // namespace
}  // namespace heed::engine
