// Random schedules of requests of all kinds.
#include <gtest/gtest.h>

#include <map>

#include "heed/base/parallel.h"
#include "heed/kernels/quantize.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_decoder.h"

namespace heed::generate {
namespace {

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

/// Jobs of all kinds, and the result of each alone.
class Jobs {
 public:
  Jobs(const TestModel& model, Random& random, int count) : model_(model), random_(random) {
    for (int i = 0; i < count; ++i) {
      jobs.push_back(next());
      expected.push_back(alone(model, jobs.back()));
    }
  }

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
    job.max_new_tokens = 1 + random_.below(16);
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

  /// 1 to 2,000 tokens. Half of the texts continue a conversation: they begin with an earlier
  /// prompt and its output.
  std::vector<int32_t> text() {
    std::vector<int32_t> text;
    if (!jobs.empty() && random_.once_in(2)) {
      const auto i = static_cast<size_t>(random_.below(static_cast<int64_t>(jobs.size())));
      const std::vector<int32_t>& output = expected[i].tokens.front();
      text = jobs[i].source.empty() ? jobs[i].prompt : jobs[i].source;
      text.insert(text.end(), output.begin(), output.end());
    }
    const int64_t room = 2000 - static_cast<int64_t>(text.size());
    const int64_t most = random_.once_in(8) ? room : std::min<int64_t>(room, 40);
    const std::vector<int32_t> more = random_tokens(random_, 1 + random_.below(most));
    text.insert(text.end(), more.begin(), more.end());
    return text;
  }

  const TestModel& model_;
  Random& random_;
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
    options.max_active_tokens = random.once_in(3) ? 0 : 50 + random.below(3000);
    options.max_prefill_tokens = random.once_in(3) ? 0 : 1 + random.below(200);
    options.max_cached_tokens = random.once_in(2) ? 0 : random.below(5000);
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

TEST(Schedules, EveryRequestHasTheBitsThatItHasAloneInAnySchedule) {
  Executor executors[] = {Executor(1), Executor(2), Executor(3)};
  int64_t verified = 0, reused = 0, drafts_accepted = 0;
  for (const TestModel& model : test_models()) {
    Random random(17);
    const Jobs jobs(model, random, 30);
    for (int i = 0; i < 12; ++i) {  // with 19 models: 228 schedules
      const ExecutorScope scope(executors[i % 3]);
      Schedule schedule(model, jobs, random);
      ASSERT_NO_FATAL_FAILURE(schedule.run());
      verified += schedule.verified();
      reused += schedule.reused();
      drafts_accepted += schedule.drafts_accepted();
    }
  }
  EXPECT_GT(verified, 1500);
  EXPECT_GT(reused, 1000);
  EXPECT_GT(drafts_accepted, 1000);
}

}  // namespace
}  // namespace heed::generate
