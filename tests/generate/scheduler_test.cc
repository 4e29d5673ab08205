#include "heed/generate/scheduler.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_decoder.h"

namespace heed::generate {
namespace {

Job greedy_job(std::vector<int32_t> prompt, int64_t max_new_tokens) {
  Job job;
  job.prompt = std::move(prompt);
  job.max_new_tokens = max_new_tokens;
  return job;
}

TEST(Scheduler, ReusesTheRowsOfEndedRequests) {
  const auto model = varied_model(kDecoderVariants[0]);
  Scheduler scheduler(*model, {.max_active_tokens = 200});
  const Job job = greedy_job({5, 6, 7}, 8);
  std::vector<std::unique_ptr<Decoder>> decoders;
  int64_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    decoders.push_back(std::make_unique<Decoder>(job));
    scheduler.add(decoders.back()->request());
    scheduler.step();
    most = std::max(most, scheduler.rows_in_use());
  }
  while (!scheduler.idle()) scheduler.step();
  EXPECT_LE(most, 200);
  EXPECT_EQ(scheduler.rows_in_use(), 0);
}

TEST(Scheduler, RequestsBeyondTheLimitWaitInOrder) {
  const auto model = varied_model(kDecoderVariants[0]);
  Scheduler scheduler(*model, {.max_active_tokens = 20});
  const Job small = greedy_job({5, 6}, 6), large = greedy_job({5, 6}, 60);
  Decoder first(small), second(large), third(small);
  const Scheduler::Id ids[] = {scheduler.add(first.request()), scheduler.add(second.request()),
                               scheduler.add(third.request())};
  std::vector<Scheduler::Id> ended;
  while (!scheduler.idle())
    for (const Scheduler::Progress& progress : scheduler.step())
      if (progress.ended) ended.push_back(progress.id);
  // The third has room beside the first, but may not overtake the second, which needs all of it.
  EXPECT_EQ(ended, std::vector(std::begin(ids), std::end(ids)));
}

TEST(Scheduler, ALongPromptDoesNotStallOtherRequests) {
  const auto model = varied_model(kDecoderVariants[0], 2048);
  Scheduler scheduler(*model, {.max_prefill_tokens = 16});
  Random random(3);
  const Job brief = greedy_job({5, 6}, 10), extended = greedy_job(random_tokens(random, 1600), 1);
  Decoder one(brief), two(extended);
  const Scheduler::Id running = scheduler.add(one.request());
  scheduler.step();
  scheduler.add(two.request());
  for (int i = 0; i < 9; ++i) {
    const auto progress = scheduler.step();
    ASSERT_EQ(progress.size(), 1u);
    EXPECT_EQ(progress.front().id, running);
    EXPECT_EQ(progress.front().ended, i == 8);
  }
  int steps = 9;
  while (!scheduler.idle()) steps += scheduler.step().empty() || true;
  EXPECT_EQ(steps, 100);  // 1600 tokens, 16 in each step
}

TEST(Scheduler, ALaterTurnOfAConversationComputesOnlyItsNewTokens) {
  for (const DecoderVariant& variant : {kDecoderVariants[0], kDecoderVariants[2]}) {
    const auto model = varied_model(variant);
    Scheduler scheduler(*model, {.max_cached_tokens = 1000});
    const Job first = greedy_job({5, 6, 7, 8, 9}, 6);
    Decoder before(first);
    scheduler.add(before.request());
    while (!scheduler.idle()) scheduler.step();
    std::vector<int32_t> prompt = first.prompt;
    const std::vector<int32_t> output = before.result().tokens.front();
    prompt.insert(prompt.end(), output.begin(), output.end());
    prompt.insert(prompt.end(), {10, 11, 12});
    const Job second = greedy_job(prompt, 1);
    Decoder after(second);
    scheduler.add(after.request());
    scheduler.step();
    // The last output token was never read. Latent attention keeps the prompt alone.
    const size_t kept = model->config().latent.present() ? 5 : 5 + output.size() - 1;
    EXPECT_EQ(scheduler.reused_tokens(), static_cast<int64_t>(kept)) << variant;
  }
}

TEST(Scheduler, ARequestThatFailsLeavesTheOthersAlone) {
  const auto model = varied_model(kDecoderVariants[0]);
  Scheduler scheduler(*model, {});
  Job broken = greedy_job({5, 6, 7}, 8);
  for (int32_t token = 0; token < 60; ++token)
    broken.options.sampling.logit_bias.push_back({token, -std::numeric_limits<float>::infinity()});
  const Job sound = greedy_job({5, 6, 7}, 8);
  Decoder one(broken), two(sound);
  const Scheduler::Id failing = scheduler.add(one.request());
  scheduler.add(two.request());
  int failed = 0;
  while (!scheduler.idle())
    for (const Scheduler::Progress& progress : scheduler.step())
      if (progress.error) {
        ++failed;
        EXPECT_EQ(progress.id, failing);
        EXPECT_TRUE(progress.ended);
        EXPECT_THROW(std::rethrow_exception(progress.error), Error);
      }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(two.result().tokens.front().size(), 8u);
  EXPECT_EQ(scheduler.rows_in_use(), 0);
}

TEST(Scheduler, AStepThatThrowsChangesNothing) {
  const auto model = varied_model(kDecoderVariants[0]);
  Scheduler scheduler(*model, {});
  const Job sound = greedy_job({5, 6, 7}, 8), wrong = greedy_job({5, 600}, 8);
  Decoder one(sound), two(wrong);
  scheduler.add(one.request());
  scheduler.step();
  const int64_t rows = scheduler.rows_in_use();
  const Scheduler::Id outside = scheduler.add(two.request());
  EXPECT_THROW(scheduler.step(), Error);
  EXPECT_EQ(scheduler.rows_in_use(), rows);
  scheduler.cancel(outside);
  while (!scheduler.idle()) scheduler.step();
  EXPECT_EQ(one.result(), alone({"", varied_model(kDecoderVariants[0]), {}}, sound));
}

TEST(Scheduler, RefusesARequestThatDoesNotFitTheModel) {
  const auto decoder_only = varied_model(kDecoderVariants[0]);
  Job job = greedy_job({5}, 1);
  job.source = {4, 5};
  Decoder decoder(job);
  Scheduler scheduler(*decoder_only, {});
  EXPECT_THROW(scheduler.add(decoder.request()), Error);
  EXPECT_TRUE(scheduler.idle());
}

}  // namespace
}  // namespace heed::generate
