#include "heed/generate/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/generate/beam.h"
#include "heed/generate/output.h"
#include "heed/kernels/quantize.h"
#include "tests/generate/small_decoder.h"

namespace heed::generate {
namespace {

/// Draws numbers for the tests.
class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_.below(counter_++, static_cast<uint64_t>(bound)));
  }
  bool once_in(int64_t n) { return below(n) == 0; }

 private:
  CounterRandom random_;
  uint64_t counter_ = 0;
};

/// What a request asks for, and its result.
struct Job {
  std::vector<int32_t> source, prompt;
  GeneratorOptions options;             // sampling or greedy search
  std::optional<SearchOptions> search;  // given: beam search
  uint64_t number = 0;
  int64_t max_new_tokens = 1;
};

struct Result {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<double> numbers;  // log-probabilities and scores
  bool operator==(const Result&) const = default;
};

/// A job while it is decoded.
class Decoder {
 public:
  explicit Decoder(const Job& job) : job_(job) {
    if (job.search)
      beam_ = std::make_unique<BeamDecoding>(*job.search, job.prompt, job.options.eos_ids,
                                             job.max_new_tokens);
    else
      output_ = std::make_unique<Output>(job.options, kNoTokenizer, job.prompt, job.number,
                                         job.max_new_tokens);
  }

  Scheduler::Request request() {
    const int64_t paths = job_.search ? job_.search->num_beams : 1;
    return {.source = job_.source,
            .decoding = beam_ ? static_cast<Decoding*>(beam_.get()) : output_.get(),
            .max_tokens = static_cast<int64_t>(job_.source.size() + job_.prompt.size()) +
                          paths * job_.max_new_tokens};
  }

  Result result() const {
    Result result;
    if (beam_) {
      for (const Hypothesis& hypothesis : beam_->best()) {
        result.tokens.push_back(hypothesis.tokens);
        result.numbers.push_back(hypothesis.log_probability);
        result.numbers.push_back(hypothesis.score);
      }
      return result;
    }
    const Generation& output = output_->result();
    result.tokens.push_back(output.tokens);
    for (const TokenLogProbability& token : output.chosen)
      result.numbers.push_back(token.log_probability);
    for (const auto& best : output.best)
      for (const TokenLogProbability& token : best) {
        result.tokens.front().push_back(token.token);
        result.numbers.push_back(token.log_probability);
      }
    return result;
  }

 private:
  inline static const std::optional<text::Tokenizer> kNoTokenizer = {};

  const Job& job_;
  std::unique_ptr<BeamDecoding> beam_;
  std::unique_ptr<Output> output_;
};

/// A model and the types of its arithmetic and caches.
struct TestModel {
  std::string name;
  std::unique_ptr<model::Transformer> model;
  SchedulerOptions options;
};

void quantise(model::Transformer& model) {
  for (Parameter& parameter : model.parameters().all()) {
    if (parameter.shape.rank() != 2 || parameter.shape[1] % 32 != 0) continue;
    Tensor blocks = Tensor::empty(parameter.shape, DType::q8_0);
    kernels::quantize(parameter.value, blocks);
    parameter.value = blocks;
  }
  model.pack(Compute::int8);
}

constexpr int64_t kMaxPositions = 2048;

std::vector<TestModel> test_models() {
  std::vector<TestModel> all;
  for (const DecoderVariant& variant : kDecoderVariants) {
    const std::string name = variant.name;
    all.push_back({name + ", f32", varied_model(variant, kMaxPositions), {}});
    all.push_back({name + ", bf16",
                   varied_model(variant, kMaxPositions),
                   {.dtype = DType::bf16, .cache = {.memory_dtype = DType::bf16}}});
    all.push_back({name + ", int8",
                   varied_model(variant, kMaxPositions),
                   {.cache = {.dtype = DType::bf16, .memory_dtype = DType::bf16}}});
    quantise(*all.back().model);
  }
  all.push_back({"q8_0 cache",
                 varied_model({"wide heads",
                               [](model::ModelConfig& c) {
                                 c.n_kv_heads = 2;
                                 c.head_dim = c.v_head_dim = 32;
                               }},
                              kMaxPositions),
                 {.cache = {.dtype = DType::q8_0}}});
  return all;
}

std::vector<int32_t> random_tokens(Random& random, int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(2 + random.below(58)));
  return tokens;
}

/// Requests of all kinds. Some begin with the tokens of an earlier one.
std::vector<Job> random_jobs(const model::Transformer& model, Random& random, int count) {
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) {
    Job job;
    const int64_t length = 1 + random.below(random.once_in(8) ? 2000 : 40);
    std::vector<int32_t> text = random_tokens(random, length);
    if (i > 0 && random.once_in(2)) {  // a later turn of a conversation
      const Job& earlier = jobs[static_cast<size_t>(random.below(i))];
      const std::vector<int32_t>& begin = model.has_encoder() ? earlier.source : earlier.prompt;
      if (begin.size() + text.size() < 2000) text.insert(text.begin(), begin.begin(), begin.end());
    }
    if (model.has_encoder()) {
      job.source = std::move(text);
      job.prompt = {model.config().decoder_start_id};
    } else {
      job.prompt = std::move(text);
    }
    job.number = static_cast<uint64_t>(i);
    job.max_new_tokens = 1 + random.below(16);
    job.options.eos_ids = {1, 3};
    job.options.top_log_probabilities = static_cast<int>(random.below(3)) - 1;
    job.options.sampling = {.repetition_penalty = random.once_in(2) ? 1.2f : 1.0f,
                            .temperature = random.once_in(2) ? 0.9f : 0.0f,
                            .top_k = 20,
                            .seed = static_cast<uint64_t>(random.below(100))};
    if (random.once_in(3)) {
      const int beams = static_cast<int>(1 + random.below(4));
      job.search = {.num_beams = beams, .n_best = beams};
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// The result of a job that has a scheduler for itself.
Result alone(const TestModel& model, const Job& job) {
  Scheduler scheduler(*model.model, model.options);
  Decoder decoder(job);
  scheduler.add(decoder.request());
  while (!scheduler.idle()) scheduler.step();
  return decoder.result();
}

/// Runs jobs in one scheduler. They arrive at random steps; some are cancelled.
class Schedule {
 public:
  Schedule(const TestModel& model, const std::vector<Job>& jobs,
           const std::vector<Result>& expected, Random& random)
      : model_(model),
        jobs_(jobs),
        expected_(expected),
        random_(random),
        scheduler_(*model.model, options(model, random)) {}

  void run() {
    for (int steps = 0; arrivals_ < 12 || !scheduler_.idle(); ++steps) {
      ASSERT_LT(steps, 10000) << model_.name;
      while (arrivals_ < 12 && random_.once_in(3)) arrive();
      if (!running_.empty() && random_.once_in(40)) cancel();
      for (const Scheduler::Progress& progress : scheduler_.step()) check(progress);
    }
    EXPECT_TRUE(running_.empty());
    scheduler_.clear_cached_tokens();
    EXPECT_EQ(scheduler_.rows_in_use(), 0) << model_.name;
  }

  int64_t checked() const { return checked_; }
  int64_t reused() const { return scheduler_.reused_tokens(); }

 private:
  struct Running {
    size_t job;
    std::unique_ptr<Decoder> decoder;
  };

  static SchedulerOptions options(const TestModel& model, Random& random) {
    SchedulerOptions options = model.options;
    options.max_active_tokens = random.once_in(3) ? 0 : 50 + random.below(3000);
    options.max_prefill_tokens = random.once_in(3) ? 0 : 1 + random.below(200);
    options.max_cached_tokens = random.once_in(2) ? 0 : random.below(5000);
    return options;
  }

  void arrive() {
    const auto job = static_cast<size_t>(random_.below(static_cast<int64_t>(jobs_.size())));
    auto decoder = std::make_unique<Decoder>(jobs_[job]);
    const Scheduler::Id id = scheduler_.add(decoder->request());
    running_[id] = {job, std::move(decoder)};
    ++arrivals_;
  }

  void cancel() {
    auto one = std::next(running_.begin(), random_.below(static_cast<int64_t>(running_.size())));
    scheduler_.cancel(one->first);
    running_.erase(one);
  }

  void check(const Scheduler::Progress& progress) {
    ASSERT_EQ(progress.error, nullptr);
    if (!progress.ended) return;
    const auto one = running_.find(progress.id);
    ASSERT_NE(one, running_.end());
    EXPECT_EQ(one->second.decoder->result(), expected_[one->second.job])
        << model_.name << ", job " << one->second.job;
    running_.erase(one);
    ++checked_;
  }

  const TestModel& model_;
  const std::vector<Job>& jobs_;
  const std::vector<Result>& expected_;
  Random& random_;
  Scheduler scheduler_;
  std::map<Scheduler::Id, Running> running_;
  int arrivals_ = 0;
  int64_t checked_ = 0;
};

TEST(Scheduler, EveryRequestHasTheBitsThatItHasAloneInAnySchedule) {
  int64_t checked = 0, reused = 0;
  for (const TestModel& model : test_models()) {
    Random random(17);
    const std::vector<Job> jobs = random_jobs(*model.model, random, 30);
    std::vector<Result> expected;
    for (const Job& job : jobs) expected.push_back(alone(model, job));
    for (int i = 0; i < 12; ++i) {  // with 19 models: 228 schedules
      Schedule schedule(model, jobs, expected, random);
      ASSERT_NO_FATAL_FAILURE(schedule.run());
      checked += schedule.checked();
      reused += schedule.reused();
    }
  }
  EXPECT_GT(checked, 1500);
  EXPECT_GT(reused, 1000);
}

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
