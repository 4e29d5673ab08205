// What a request gives in a session is what Model gives for it alone.
#include "heed/session.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "heed/error.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

/// Everything that a request received.
struct Received {
  std::string text;
  std::vector<int32_t> tokens;
  std::vector<double> log_probabilities;
  std::optional<Generation> generation;
  std::vector<Candidate> candidates;
  std::string error;
  int calls = 0;
};

Session::OnDelta into(Received& received) {
  return [&received](const Delta& delta) {
    ++received.calls;
    received.text += delta.text;
    received.tokens.insert(received.tokens.end(), delta.tokens.begin(), delta.tokens.end());
    for (const TokenLogProbability& token : delta.chosen)
      received.log_probabilities.push_back(token.log_probability);
    if (delta.generation) received.generation = *delta.generation;
    if (delta.candidates) received.candidates = *delta.candidates;
    if (delta.error) received.error = delta.error->what();
    return true;
  };
}

void run(Session& session) {
  while (session.step()) {
  }
}

const std::vector<std::string> kTexts{"the old sailor", "the", "sea and ship", "in the",
                                      "went out"};

TEST(Session, RunsAtMostSoManyRequestsAndTellsWhenEachStarts) {
  const Model model = Model::load(models().decoder());
  Session session(model, {.max_active_requests = 2});
  std::vector<int> started;
  std::vector<Received> received(5);
  std::vector<RequestId> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(session.add({.prompt = "the sea",
                               .options = {.max_new_tokens = 2 + i},
                               .on_start = [&started, i] { started.push_back(i); }},
                              into(received[static_cast<size_t>(i)])));
  EXPECT_EQ(session.waiting_requests(), 5);
  EXPECT_TRUE(started.empty());
  session.step();
  EXPECT_EQ(started, (std::vector<int>{0, 1}));
  EXPECT_EQ(session.waiting_requests(), 3);
  while (session.step()) EXPECT_LE(session.requests() - session.waiting_requests(), 2);
  EXPECT_EQ(started, (std::vector<int>{0, 1, 2, 3, 4}));
  for (const RequestId id : ids) EXPECT_FALSE(session.has(id));
  EXPECT_THROW(Session(model, {.max_active_requests = -1}), Error);
}

TEST(Session, GivesTheSameBitsWhenPromptsShareTheTimeOfSteps) {
  const Model model = Model::load(models().decoder());
  std::vector<Prompt> prompts(kTexts.begin(), kTexts.end());
  const GenerateOptions options{.max_new_tokens = 12, .temperature = 0.9f, .seed = 3};
  const auto expected = model.generate_batch(prompts, options);
  Session session(model, {.balance_prefill = true});
  std::vector<Received> received(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    session.add({.prompt = prompts[i], .options = options, .number = static_cast<int64_t>(i) + 1},
                into(received[i]));
    session.step();
  }
  run(session);
  for (size_t i = 0; i < prompts.size(); ++i) EXPECT_EQ(received[i].tokens, expected[i].tokens);
}

TEST(Session, GivesTheTextAndLogProbabilitiesThatARequestHasAlone) {
  for (const auto& path : {models().decoder(), models().t5()}) {
    const Model model = Model::load(path);
    GenerateOptions options{.max_new_tokens = 16, .temperature = 0.9f, .seed = 5};
    options.top_log_probabilities = 2;
    std::vector<Prompt> prompts(kTexts.begin(), kTexts.end());
    const auto expected = model.generate_batch(prompts, options);
    Session session(model, {.max_active_tokens = 60, .max_prefill_tokens = 2});
    std::vector<Received> received(kTexts.size());
    for (size_t i = 0; i < kTexts.size(); ++i) {
      session.add({.prompt = kTexts[i], .options = options, .number = static_cast<int64_t>(i) + 1},
                  into(received[i]));
      session.step();
    }
    run(session);
    for (size_t i = 0; i < kTexts.size(); ++i) {
      ASSERT_TRUE(received[i].generation) << path;
      EXPECT_EQ(received[i].generation->tokens, expected[i].tokens) << path;
      EXPECT_EQ(received[i].tokens, expected[i].tokens);
      EXPECT_EQ(received[i].text, expected[i].text);
      ASSERT_EQ(received[i].log_probabilities.size(), expected[i].chosen.size());
      for (size_t j = 0; j < expected[i].chosen.size(); ++j)
        EXPECT_EQ(received[i].log_probabilities[j], expected[i].chosen[j].log_probability);
      EXPECT_GT(received[i].calls, 1);
    }
    session.clear_cached_tokens();
    EXPECT_EQ(session.rows_in_use(), 0);
  }
}

TEST(Session, StopsAtStopStringsAsAlone) {
  const Model model = Model::load(models().decoder());
  const std::string whole = model.generate("the old", {.max_new_tokens = 20}).text;
  ASSERT_GT(whole.size(), 8u);
  const GenerateOptions options{.max_new_tokens = 20, .stop = {whole.substr(5, 3)}};
  Session session(model);
  Received received;
  session.add({.prompt = "the old", .options = options}, into(received));
  run(session);
  const Generation expected = model.generate("the old", options);
  EXPECT_EQ(received.text, expected.text);
  EXPECT_EQ(received.generation->stop_string, expected.stop_string);
  EXPECT_TRUE(expected.stop_string);
}

void expect_equal(const std::vector<Candidate>& a, const std::vector<Candidate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].text, b[i].text);
    EXPECT_EQ(a[i].hypothesis.tokens, b[i].hypothesis.tokens);
    EXPECT_EQ(a[i].hypothesis.score, b[i].hypothesis.score);
  }
}

TEST(Session, TranslatesAsTranslateDoes) {
  for (const auto weights : {std::optional<WeightType>(), std::optional(WeightType::q8_0)}) {
    const Model model = Model::load(models().translator(), {.weights = weights});
    const SearchOptions search{.num_beams = 3, .n_best = 2};
    const auto expected = model.translate_batch(kTexts, {.search = search});
    Session session(model);
    std::vector<Received> found(kTexts.size());
    for (size_t i = 0; i < kTexts.size(); ++i)
      session.add({.prompt = kTexts[i], .search = search}, into(found[i]));
    run(session);
    for (size_t i = 0; i < kTexts.size(); ++i) {
      expect_equal(found[i].candidates, expected[i].candidates);
      EXPECT_EQ(found[i].calls, 1);
    }
    Received standard;
    session.add({.prompt = kTexts[0]}, into(standard));
    run(session);
    EXPECT_EQ(standard.candidates.front().text, model.translate(kTexts[0]).text());
  }
}

TEST(Session, RunsBeamSearchBesideSampling) {
  const Model model = Model::load(models().decoder());
  const SearchOptions search{.num_beams = 4, .n_best = 4};
  const GenerateOptions limits{.max_new_tokens = 10};
  const auto expected = model.search_batch({kTexts[0]}, search, limits).front();
  Session session(model);
  Received beam, sampled;
  session.add({.prompt = kTexts[1], .options = {.max_new_tokens = 12, .sample = true}},
              into(sampled));
  session.step();
  session.add({.prompt = kTexts[0], .options = limits, .search = search}, into(beam));
  run(session);
  expect_equal(beam.candidates, expected);
  EXPECT_EQ(sampled.text, model.generate(kTexts[1], {.max_new_tokens = 12, .sample = true}).text);
}

TEST(Session, AFunctionThatReturnsFalseCancelsItsRequest) {
  const Model model = Model::load(models().decoder());
  Session session(model, {.max_cached_tokens = 0});
  int calls = 0;
  session.add({.prompt = "the", .options = {.max_new_tokens = 30}},
              [&](const Delta&) { return ++calls < 3; });
  Received other;
  session.add({.prompt = "old", .options = {.max_new_tokens = 30}}, into(other));
  run(session);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(other.text, model.generate("old", {.max_new_tokens = 30}).text);
  EXPECT_EQ(session.rows_in_use(), 0);
}

TEST(Session, AFunctionMayAddAndCancelRequests) {
  const Model model = Model::load(models().decoder());
  Session session(model);
  Received added, cancelled;
  const GenerateOptions options{.max_new_tokens = 9};
  RequestId first = 0, second = 0;
  bool once = false;
  first = session.add({.prompt = "the", .options = options}, [&](const Delta&) {
    if (std::exchange(once, true)) return true;
    session.cancel(second);
    session.add({.prompt = "sea", .options = options}, into(added));
    session.cancel(first);
    EXPECT_THROW(session.step(), Error);
    EXPECT_THROW(session.close(), Error);
    return true;
  });
  second = session.add({.prompt = "old", .options = options}, into(cancelled));
  run(session);
  EXPECT_EQ(cancelled.calls, 0);
  EXPECT_EQ(added.text, model.generate("sea", options).text);
}

TEST(Session, AnExceptionOfAFunctionEndsItsRequestAlone) {
  const Model model = Model::load(models().decoder());
  Session session(model);
  const GenerateOptions options{.max_new_tokens = 9};
  session.add({.prompt = "the", .options = options},
              [](const Delta&) -> bool { throw std::runtime_error("full"); });
  Received other;
  session.add({.prompt = "old", .options = options}, into(other));
  EXPECT_THROW(session.step(), std::runtime_error);
  EXPECT_EQ(session.requests(), 1);
  run(session);
  EXPECT_EQ(other.text, model.generate("old", options).text);
}

TEST(Session, TheNextTurnOfAConversationComputesOnlyItsNewTokens) {
  const Model model = Model::load(models().decoder());
  Session session(model);
  const GenerateOptions options{.max_new_tokens = 8};
  std::vector<int32_t> conversation = model.tokenize("the old sailor");
  int64_t known = 0;
  for (int turn = 0; turn < 3; ++turn) {
    Received received;
    const int64_t reused = session.reused_tokens();
    session.add({.prompt = conversation, .options = options}, into(received));
    run(session);
    EXPECT_EQ(received.tokens, model.generate(conversation, options).tokens);
    EXPECT_EQ(session.reused_tokens() - reused, known);
    conversation.insert(conversation.end(), received.tokens.begin(), received.tokens.end());
    known = static_cast<int64_t>(conversation.size()) - 1;  // the last token was never read
    for (const int32_t token : model.tokenize(" and the sea")) conversation.push_back(token);
  }
}

TEST(Session, TenThousandRequestsTakeTheMemoryOfThoseAlive) {
  const Model model = Model::load(models().decoder());
  Session session(model, {.max_active_tokens = 120, .max_cached_tokens = 100});
  int ended = 0;
  int64_t most = 0;
  for (int i = 0; i < 10000; ++i) {
    session.add({.prompt = kTexts[static_cast<size_t>(i) % kTexts.size()],
                 .options = {.max_new_tokens = 1 + i % 4},
                 .number = i + 1},
                [&](const Delta& delta) {
                  ended += delta.generation != nullptr;
                  return true;
                });
    while (session.requests() > 8) session.step();
    most = std::max(most, session.rows_in_use());
  }
  run(session);
  EXPECT_EQ(ended, 10000);
  EXPECT_LE(most, 220);
}

void expect_refusal(const Model& model, const Request& request, const std::string& message) {
  Session session(model);
  Received received;
  try {
    session.add(request, into(received));
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
  EXPECT_EQ(session.requests(), 0);
  EXPECT_FALSE(session.step());
}

TEST(SessionBadInput, ARequestThatTheModelCannotServeIsRefused) {
  const Model decoder = Model::load(models().decoder());
  expect_refusal(decoder, {.prompt = "\xff"}, "not valid UTF-8");
  expect_refusal(decoder, {.prompt = std::vector<int32_t>{}}, "no tokens");
  expect_refusal(decoder, {.prompt = std::vector<int32_t>{5, 120}},
                 "token 120 is outside the vocabulary of 120");
  expect_refusal(decoder, {.prompt = std::vector<int32_t>(65, 5)},
                 "65 tokens, the model reads at most 64");
  expect_refusal(decoder, {.prompt = "the", .options = {.max_new_tokens = 0}},
                 "max_new_tokens is 0");
  expect_refusal(decoder, {.prompt = "the", .options = {.temperature = -1.0f}}, "temperature");
  expect_refusal(decoder, {.prompt = "the", .search = SearchOptions{.num_beams = 0}},
                 "num_beams is 0, expected 1 to 256");
  expect_refusal(decoder, {.prompt = "the", .number = 0}, "number");
  const Model translator = Model::load(models().translator());
  expect_refusal(translator, {.prompt = "\xff"}, "not valid UTF-8");
  expect_refusal(translator, {.prompt = std::vector<int32_t>(65, 5)},
                 "65 tokens, the model reads at most 64");
  expect_refusal(translator, {.prompt = std::vector<int32_t>{5, -1}}, "token -1 is outside");
}

TEST(SessionBadInput, AModelWithoutADecoderHasNoSession) {
  const Model encoder = Model::load(models().encoder());
  EXPECT_THROW(Session{encoder}, Error);
}

TEST(SessionBadInput, OptionsOutOfRangeAreRefused) {
  const Model model = Model::load(models().decoder());
  EXPECT_THROW(Session(model, {.max_active_tokens = 0}), Error);
  EXPECT_THROW(Session(model, {.max_prefill_tokens = 0}), Error);
  EXPECT_THROW(Session(model, {.max_cached_tokens = -1}), Error);
  Session session(model);
  EXPECT_THROW(session.add({.prompt = "the"}, {}), Error);
}

TEST(SessionBadInput, AClosedOrMovedFromSessionThrows) {
  const Model model = Model::load(models().decoder());
  Session session(model);
  Received received;
  session.add({.prompt = "the"}, into(received));
  session.close();
  EXPECT_FALSE(session.is_open());
  EXPECT_THROW(session.step(), Error);
  EXPECT_THROW(session.add({.prompt = "the"}, into(received)), Error);
  EXPECT_THROW(session.cancel(1), Error);
  EXPECT_THROW(session.requests(), Error);
  EXPECT_THROW(session.rows_in_use(), Error);
  EXPECT_THROW(session.reused_tokens(), Error);
  EXPECT_THROW(session.clear_cached_tokens(), Error);
  EXPECT_THROW(session.close(), Error);
  Session other(model);
  const Session moved = std::move(other);
  EXPECT_TRUE(moved.is_open());
  EXPECT_THROW(other.step(), Error);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(received.calls, 0);
}

}  // namespace
}  // namespace heed::engine
