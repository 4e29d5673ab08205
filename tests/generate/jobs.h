#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/generate/beam.h"
#include "heed/generate/sampling_state.h"
#include "heed/generate/scheduler.h"

namespace heed::generate {

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
  std::vector<std::vector<int32_t>> tokens;  // of each output
  std::vector<int32_t> candidates;           // the most probable tokens at each step
  std::vector<double> numbers;               // log-probabilities, scores, cross-attention
  bool operator==(const Result&) const = default;
};

/// A job while it is decoded.
class Decoder {
 public:
  explicit Decoder(const Job& job)
      : job_(job),
        input_{.source = job.source, .prompt = job.prompt, .max_new_tokens = job.max_new_tokens} {
    if (job.search)
      beam_ = std::make_unique<BeamState>(*job.search, input_, job.options.rules);
    else
      output_ = std::make_unique<SamplingState>(job.options, kNoTokenizer, input_, job.number);
  }

  Scheduler::Request request() {
    const int64_t paths = job_.search ? job_.search->num_beams : 1;
    return {.source = job_.source,
            .decoding = beam_ ? static_cast<DecodingState*>(beam_.get()) : output_.get(),
            .max_tokens = static_cast<int64_t>(job_.source.size() + job_.prompt.size()) +
                          paths * job_.max_new_tokens,
            .cross_attention = beam_ && !job_.source.empty() && job_.number % 2 == 0};
  }

  Result result() const {
    Result result;
    if (beam_) {
      for (const auto& [hypothesis, cross_attention] : beam_->best()) {
        result.tokens.push_back(hypothesis.tokens);
        result.numbers.push_back(hypothesis.log_probability);
        result.numbers.push_back(hypothesis.score);
        for (const Tensor& weights : cross_attention)
          result.numbers.insert(result.numbers.end(), weights.values<float>().begin(),
                                weights.values<float>().end());
      }
      return result;
    }
    const Generation& output = output_->result();
    result.tokens.push_back(output.tokens);
    for (const TokenLogProbability& token : output.chosen)
      result.numbers.push_back(token.log_probability);
    for (const auto& best : output.best)
      for (const TokenLogProbability& token : best) {
        result.candidates.push_back(token.token);
        result.numbers.push_back(token.log_probability);
      }
    return result;
  }

 private:
  inline static const std::optional<text::Tokenizer> kNoTokenizer = {};

  const Job& job_;
  const GeneratorInput input_;
  std::unique_ptr<BeamState> beam_;
  std::unique_ptr<SamplingState> output_;
};

/// A model and the types of its arithmetic and caches.
struct TestModel {
  std::string name;
  std::unique_ptr<model::Transformer> model;
  SchedulerOptions options;
};

inline std::vector<int32_t> random_tokens(Random& random, int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(2 + random.below(58)));
  return tokens;
}

/// The result of a job that has a scheduler for itself.
inline Result alone(const TestModel& model, const Job& job) {
  Scheduler scheduler(*model.model, model.options);
  Decoder decoder(job);
  scheduler.add(decoder.request());
  while (!scheduler.idle()) scheduler.step();
  return decoder.result();
}

}  // namespace heed::generate
