// Random schedules of requests of all kinds.
#include <gtest/gtest.h>

#include <map>

#include "heed/base/parallel.h"
#include "heed/kernels/quantize.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_decoder.h"
#include "tests/kernels/test_gpu.h"

namespace heed::generate {
namespace {

void quantise(model::Transformer& model) {
  for (Parameter& parameter : model.parameters().all()) {
    if (parameter.shape.rank() != 2 || parameter.shape[1] % 32 != 0) continue;
    Tensor blocks = Tensor::empty(parameter.shape, DType::q8_0);
    kernels::quantize(parameter.value, blocks);
    parameter.value = blocks;
  }
}

constexpr int64_t kMaxPositions = 2048;

/// A model that computes on a device, or on the host (null).
TestModel test_model(const DecoderVariant& variant, Compute compute, Device* device = nullptr) {
  const std::string name = fmt::format("{}, {}", variant.name, name_of(compute));
  TestModel test{name, varied_model(variant, kMaxPositions), {.dtype = activation_dtype(compute)}};
  if (compute == Compute::bf16) test.options.cache.memory_dtype = DType::bf16;
  if (compute == Compute::int8) {
    test.options.cache = {.dtype = DType::bf16, .memory_dtype = DType::bf16};
    quantise(*test.model);
  }
  test.model->move_to(device);
  if (device || compute == Compute::int8) test.model->pack(compute);
  return test;
}

TestModel model_with_q8_0_cache(Device* device = nullptr) {
  const DecoderVariant wide_heads{"wide heads, q8_0 cache", [](model::ModelConfig& c) {
                                    c.n_kv_heads = 2;
                                    c.head_dim = c.v_head_dim = 32;
                                  }};
  TestModel test = test_model(wide_heads, Compute::f32, device);
  test.options.cache = {.dtype = DType::q8_0};
  return test;
}

/// How much is run.
struct Sizes {
  int schedules, jobs;  // of each model
  int64_t longest;      // text in tokens
  int64_t outputs;      // tokens of an output, at most
  int arrivals;         // requests of a schedule
};

/// Jobs of all kinds, and the result of each alone.
class Jobs {
 public:
  Jobs(const TestModel& model, Random& random, const Sizes& sizes)
      : model_(model), random_(random), sizes_(sizes) {
    for (int i = 0; i < sizes.jobs; ++i) {
      jobs.push_back(next());
      expected.push_back(alone(model, jobs.back()));
    }
  }

  const Sizes& sizes() const { return sizes_; }

  std::vector<Job> jobs;
  std::vector<Result> expected;

 private:
  Job next() {
    Job job;
    if (model_.model->has_encoder()) {
      job.source = text();
      job.prompt = {model_.model->config().decoder_start_id};
    } else {
      job.prompt = text();
    }
    job.number = jobs.size();
    job.max_new_tokens = 1 + random_.below(sizes_.outputs);
    job.options.rules.eos_ids = {1, 3};
    job.options.top_log_probabilities = static_cast<int>(random_.below(3)) - 1;
    job.options.sampling = {.repetition_penalty = random_.once_in(2) ? 1.2f : 1.0f,
                            .temperature = random_.once_in(2) ? 0.9f : 0.0f,
                            .top_k = 20,
                            .seed = static_cast<uint64_t>(random_.below(100))};
    if (random_.once_in(3)) {
      const int beams = static_cast<int>(1 + random_.below(4));
      job.search = {.num_beams = beams, .n_best = beams};
    }
    return job;
  }

  /// Half of the texts continue a conversation: they begin with an earlier
  /// prompt and its output.
  std::vector<int32_t> text() {
    std::vector<int32_t> text;
    if (!jobs.empty() && random_.once_in(2)) {
      const auto i = static_cast<size_t>(random_.below(static_cast<int64_t>(jobs.size())));
      const std::vector<int32_t>& output = expected[i].tokens.front();
      text = jobs[i].source.empty() ? jobs[i].prompt : jobs[i].source;
      text.insert(text.end(), output.begin(), output.end());
    }
    if (std::ssize(text) >= sizes_.longest) text.clear();
    const int64_t room = sizes_.longest - static_cast<int64_t>(text.size());
    const int64_t most = random_.once_in(8) ? room : std::min<int64_t>(room, 40);
    const std::vector<int32_t> more = random_tokens(random_, 1 + random_.below(most));
    text.insert(text.end(), more.begin(), more.end());
    return text;
  }

  const TestModel& model_;
  Random& random_;
  const Sizes sizes_;
};

/// Drafts of any length, of which some tokens are wrong.
class RandomDrafter : public Drafter {
 public:
  /// `output` gives the output that a request will have.
  RandomDrafter(Random& random, std::function<std::vector<int32_t>(uint64_t id)> output)
      : random_(random), output_(std::move(output)) {}

  void draft(std::span<DraftRequest> requests, int64_t) override {
    requests_ = requests.size();
    for (DraftRequest& request : requests) {
      const std::vector<int32_t> output = output_(request.id);
      const int64_t length = random_.below(std::min<int64_t>(6, request.decoding.max_draft() + 1));
      for (int64_t i = 0; i < length; ++i) {
        const size_t next =
            request.decoding.sequences().front().tokens.size() + request.draft.size();
        const bool wrong = next >= output.size() || random_.once_in(4);
        request.draft.push_back(wrong ? static_cast<int32_t>(random_.below(60)) : output[next]);
      }
    }
  }
  void verified(std::span<const int64_t> accepted) override {
    EXPECT_EQ(accepted.size(), requests_);
    for (const int64_t one : accepted) accepted_ += one;
  }
  void forget(uint64_t) override {}

  int64_t accepted() const { return accepted_; }

 private:
  Random& random_;
  std::function<std::vector<int32_t>(uint64_t id)> output_;
  size_t requests_ = 0;
  int64_t accepted_ = 0;
};

/// Runs jobs in one scheduler. They arrive at random steps; some are cancelled. Every other
/// schedule is speculative.
class Schedule {
 public:
  Schedule(const TestModel& model, const Jobs& jobs, Random& random)
      : model_(model),
        jobs_(jobs),
        random_(random),
        drafter_(std::make_shared<RandomDrafter>(
            random, [this](uint64_t id) { return jobs_.expected[running_.at(id).job].tokens[0]; })),
        scheduler_(*model.model, options(model, random)) {}

  void run() {
    for (int steps = 0; arrivals_ < jobs_.sizes().arrivals || !scheduler_.idle(); ++steps) {
      ASSERT_LT(steps, 10000) << model_.name;
      while (arrivals_ < jobs_.sizes().arrivals && random_.once_in(3)) arrive();
      if (!running_.empty() && random_.once_in(40)) cancel();
      for (const Scheduler::Progress& progress : scheduler_.step()) check(progress);
    }
    EXPECT_TRUE(running_.empty());
    scheduler_.clear_cached_tokens();
    EXPECT_EQ(scheduler_.rows_in_use(), 0) << model_.name;
  }

  int64_t verified() const { return verified_; }
  int64_t reused() const { return scheduler_.reused_tokens(); }
  int64_t drafts_accepted() const { return drafter_->accepted(); }

 private:
  struct Running {
    size_t job;
    std::unique_ptr<Decoder> decoder;
  };

  SchedulerOptions options(const TestModel& model, Random& random) const {
    SchedulerOptions options = model.options;
    const int64_t longest = jobs_.sizes().longest;
    options.max_active_tokens = random.once_in(3) ? 0 : 50 + random.below(longest * 3 / 2);
    options.max_prefill_tokens =
        random.once_in(3) ? 0 : 1 + random.below(std::max<int64_t>(longest / 10, 16));
    options.max_cached_tokens = random.once_in(2) ? 0 : random.below(longest * 5 / 2);
    if (random.once_in(2)) options.drafter = drafter_;
    return options;
  }

  void arrive() {
    const auto job = static_cast<size_t>(random_.below(static_cast<int64_t>(jobs_.jobs.size())));
    auto decoder = std::make_unique<Decoder>(jobs_.jobs[job]);
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
    EXPECT_EQ(one->second.decoder->result(), jobs_.expected[one->second.job])
        << model_.name << ", job " << one->second.job;
    running_.erase(one);
    ++verified_;
  }

  const TestModel& model_;
  const Jobs& jobs_;
  Random& random_;
  std::shared_ptr<RandomDrafter> drafter_;
  Scheduler scheduler_;
  std::map<Scheduler::Id, Running> running_;
  int arrivals_ = 0;
  int64_t verified_ = 0;
};

/// What happened in schedules.
struct Sums {
  int64_t verified = 0, reused = 0, drafts_accepted = 0;
};

/// Runs random schedules of each model.
Sums run_schedules(const std::vector<TestModel>& models, const Sizes& sizes) {
  Executor executors[] = {Executor(1), Executor(2), Executor(3)};
  Sums sums;
  for (const TestModel& model : models) {
    Random random(17);
    const Jobs jobs(model, random, sizes);
    for (int i = 0; i < sizes.schedules; ++i) {
      const ExecutorScope scope(executors[i % 3]);
      Schedule schedule(model, jobs, random);
      schedule.run();
      if (testing::Test::HasFatalFailure()) return sums;
      sums.verified += schedule.verified();
      sums.reused += schedule.reused();
      sums.drafts_accepted += schedule.drafts_accepted();
    }
  }
  return sums;
}

TEST(Schedules, EveryRequestHasTheBitsThatItHasAloneInAnySchedule) {
  std::vector<TestModel> models;  // 19: 228 schedules
  for (const DecoderVariant& variant : kDecoderVariants)
    for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8})
      models.push_back(test_model(variant, compute));
  models.push_back(model_with_q8_0_cache());
  const Sums sums = run_schedules(
      models, {.schedules = 12, .jobs = 30, .longest = 2000, .outputs = 16, .arrivals = 12});
  EXPECT_GT(sums.verified, 1500);
  EXPECT_GT(sums.reused, 1000);
  EXPECT_GT(sums.drafts_accepted, 1000);
}

TEST(Schedules, EveryRequestHasTheBitsThatItHasAloneOnAGpu) {
  Device* const gpu = &kernels::test_gpu();
  std::vector<TestModel> models;  // 5: 50 schedules
  const auto add = [&](size_t variant, Compute compute) {
    models.push_back(test_model(kDecoderVariants[variant], compute, gpu));
  };
  add(0, Compute::bf16);
  add(1, Compute::f32);
  add(2, Compute::int8);
  add(5, Compute::bf16);
  models.push_back(model_with_q8_0_cache(gpu));
  const Sums sums = run_schedules(
      models, {.schedules = 10, .jobs = 3, .longest = 24, .outputs = 4, .arrivals = 5});
  EXPECT_GT(sums.verified, 150);
  EXPECT_GT(sums.reused, 20);
  EXPECT_GT(sums.drafts_accepted, 15);
}

}  // namespace
}  // namespace heed::generate
