#include "heed/interrupt.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

using namespace std::chrono_literals;

/// The number of questions that `call` asks until its end; says yes at question `yes_at` (from 1;
/// 0: never), which has to throw Interrupted.
int questions(const std::function<void()>& call, int yes_at = 0) {
  int asked = 0;
  const InterruptScope scope([&] { return ++asked == yes_at; }, 0ms);
  if (yes_at == 0)
    call();
  else
    EXPECT_THROW(call(), Interrupted) << "question " << yes_at;
  return asked;
}

/// Interrupts a call at its first, at a middle and at its last question. Then it can be repeated.
void expect_interruptible(const std::string& name, const std::function<std::string()>& call) {
  SCOPED_TRACE(name);
  const std::string alone = call();
  const int all = questions([&] { call(); });
  ASSERT_GT(all, 0) << "the call cannot be interrupted";
  for (const int at : {1, (all + 1) / 2, all}) questions([&] { call(); }, at);
  EXPECT_EQ(call(), alone);
}

template <typename Number>
std::string text_of(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += std::to_string(number) + " ";
  return text;
}

class Interrupts : public ::testing::Test {
 protected:
  const engine::SmallModels& models_ = engine::models();
  /// On one thread the number of questions is always the same.
  LoadOptions alone() const { return {.executor = std::make_shared<Executor>(1)}; }
};

TEST_F(Interrupts, ReachEveryCallOfALanguageModel) {
  const Model model = Model::load(models_.decoder(), alone());
  const std::string text = "the old ship went out to sea";
  expect_interruptible("generate",
                       [&] { return model.generate(text, {.max_new_tokens = 6}).text; });
  expect_interruptible("generate_batch", [&] {
    return model.generate_batch({text, "the sea"}, {.max_new_tokens = 6}).back().text;
  });
  expect_interruptible("search_batch", [&] {
    return model.search_batch({text}, {.num_beams = 3}, {.max_new_tokens = 6})[0][0].text;
  });
  expect_interruptible("score", [&] { return text_of(model.score(text).log_probabilities); });
  expect_interruptible("embed", [&] { return text_of(model.embed(text)); });
  expect_interruptible("attention", [&] { return text_of(model.attention(text)[0].weights); });
}

TEST_F(Interrupts, ReachEveryCallOfOtherModels) {
  const Model masked = Model::load(models_.masked(), alone());
  expect_interruptible("fill", [&] {
    return std::to_string(masked.fill("the old [MASK] went out").masks[0].best[0].probability);
  });
  const Model encoder = Model::load(models_.encoder(), alone());
  expect_interruptible("embed_batch", [&] {
    return text_of(encoder.embed_batch({"the sea", "the old ship"})[1]);
  });
  const Model translator = Model::load(models_.translator(), alone());
  expect_interruptible("translate_batch", [&] {
    return translator.translate_batch({"the old ship", "the sea"})[1].text();
  });
  expect_interruptible("score_pair", [&] {
    return text_of(translator.score_pair("the sea", "the ship").log_probabilities);
  });
}

TEST_F(Interrupts, ReachALoad) {
  for (const auto& path : {models_.decoder(), models_.encoder(), models_.translator()})
    expect_interruptible("load " + path.filename().string(),
                         [&] { return Model::load(path, alone()).family(); });
}

TEST_F(Interrupts, AreAskedForOnTheCallingThreadAloneAndReachBatchesOnOthers) {
  const Model model = Model::load(models_.encoder(), {.executor = std::make_shared<Executor>(3)});
  const std::vector<std::string> lines(2000, "the old ship went out in the sea");
  std::set<std::thread::id> threads;
  int asked = 0;
  const InterruptScope scope(
      [&] {
        threads.insert(std::this_thread::get_id());
        return ++asked == 20;
      },
      0ms);
  EXPECT_THROW(model.embed_batch(lines, {.batch_tokens = 32}), Interrupted);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

/// Outputs of a session whose steps are interrupted now and then are those of one whose are not.
TEST_F(Interrupts, LeaveTheRequestsOfASessionAsTheyWere) {
  const Model model = Model::load(models_.decoder(), alone());
  const std::string text = "the old ship went out to sea";
  int from_outside = 0, from_within = 0, asked = 0;
  Session session(model, {.max_prefill_tokens = 4, .interrupted = [&] {
                            const bool now = ++asked % 5 == 0;
                            from_within += now;
                            return now;
                          }});
  std::string found;
  session.add({.prompt = text, .options = {.max_new_tokens = 6}}, [&](const Delta& delta) {
    found += delta.text;
    return true;
  });
  for (bool left = true; left;) {
    int questions_of_step = 0;
    const InterruptScope scope([&] { return ++questions_of_step == 2 && asked % 3 == 0; }, 0ms);
    try {
      left = session.step();
    } catch (const Interrupted&) {
      ++from_outside;
    }
  }
  EXPECT_GT(from_outside, 0);
  EXPECT_GT(from_within, 0);
  EXPECT_EQ(found, model.generate(text, {.max_new_tokens = 6}).text);
}

}  // namespace
}  // namespace heed
