// Steps of training on several ranks whose computing time is simulated: the messages are those of
// heed train (MicrobatchGradients, Optimizer), but a pass over few tokens waits until as much time
// has gone by as one over many would take. Each parameter gets the share of a pass that it has of
// all weights. Prints, as one line of JSON, the seconds of a step, those of messages, and how many
// of them were hidden behind computing. bench/ranks starts it.
//
//   mpirun -n RANKS ranks_step SECONDS [STEPS [LEAVES [SENTENCES]]]
//
// SECONDS is what a rank computes in a step: forward passes take a third of it, backward passes two
// thirds. With 0 a step takes what it takes. A microbatch has so many SENTENCES of 32 tokens.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/distribute/mpi_transport.h"
#include "heed/train/config/config.h"
#include "heed/train/distributed/microbatch_gradients.h"
#include "heed/train/optimizers/optimizer.h"

namespace {

using namespace heed;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kLength = 32;
constexpr int64_t kVocabulary = 37000;

/// Tokens of which a microbatch of many tokens would look up rows: 3,500 different ones, of which
/// 58% are in the first quarter of the vocabulary, as frequent pieces are. (12,000 tokens of two
/// English Bibles are 2,000 different ones, 62% of them in the first quarter.)
std::vector<int32_t> many_tokens() {
  constexpr int64_t count = 4000;
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(kVocabulary * i * i * i / (count * count * count)));
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
  return tokens;
}

double seconds_since(Clock::time_point begin) { return Seconds(Clock::now() - begin).count(); }

/// Microbatches whose passes take as long as they are told.
class SimulatedMicrobatches : public train::MicrobatchGradients {
 public:
  SimulatedMicrobatches(nn::Parameters& parameters, distribute::Group& group,
                        const train::StepGradientsOptions& options)
      : MicrobatchGradients(parameters, group, options) {
    for (const Parameter* parameter : trained()) total_ += parameter->shape.elements();
  }

  /// Of the passes of one microbatch, from now on.
  void set_seconds(double forward, double backward) {
    forward_ = forward;
    backward_ = backward;
  }
  /// By how much the real passes took longer than the simulated ones.
  double seconds_late() const { return late_; }

 protected:
  void before_use(const Parameter& parameter, DType dtype) override {
    wait_for_weights([&] { MicrobatchGradients::before_use(parameter, dtype); });
    if (used_.insert(&parameter).second) spend(forward_ * share(parameter));
  }

  void before_lookup(const Parameter& table, DType dtype) override {
    wait_for_weights([&] { MicrobatchGradients::before_lookup(table, dtype); });
    pass_gradients_.sparse(table)->add(tokens_,
                                       Tensor::zeros({std::ssize(tokens_), table.shape[1]}), 1.0f);
  }

  void gradient_complete(const Parameter& parameter) override {
    spend(backward_ * share(parameter));
    MicrobatchGradients::gradient_complete(parameter);
    used_.erase(&parameter);
  }

 private:
  double share(const Parameter& parameter) const {
    return static_cast<double>(parameter.shape.elements()) / static_cast<double>(total_);
  }

  /// It computes nothing.
  template <typename Wait>
  void wait_for_weights(const Wait& wait) {
    const auto begin = Clock::now();
    if (used_.empty()) due_ = begin;  // of a pass that begins
    wait();
    due_ += Clock::now() - begin;
  }

  void spend(double seconds) {
    if (seconds <= 0) return;
    due_ += std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
    const auto now = Clock::now();
    if (due_ >= now) {
      std::this_thread::sleep_until(due_);
    } else {
      late_ += Seconds(now - due_).count();
      due_ = now;
    }
  }

  std::vector<int32_t> tokens_ = many_tokens();
  int64_t total_ = 0;
  double forward_ = 0, backward_ = 0, late_ = 0;
  Clock::time_point due_;
  std::unordered_set<const Parameter*> used_;  // by the forward pass, and not yet complete
};

std::vector<data::Batch> batches_of(int64_t microbatches, int sentences) {
  std::vector<data::Batch> batches(static_cast<size_t>(microbatches));
  std::vector<int32_t> ids(kLength);
  std::iota(ids.begin(), ids.end(), 5);
  for (data::Batch& batch : batches) {
    batch.source_offsets = batch.target_offsets = {0};
    for (int sentence = 0; sentence < sentences; ++sentence) {
      data::append_sequence(ids, batch.source, batch.source_offsets);
      data::append_sequence(ids, batch.decoder_input, batch.target_offsets);
      batch.target.insert(batch.target.end(), ids.begin(), ids.end());
      batch.examples.push_back(sentence);
    }
  }
  return batches;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void run(double seconds, int steps, int64_t microbatches, int sentences) {
  Executor executor(1);
  const ExecutorScope scope(executor);
  const auto library = distribute::mpi_of_launcher();
  const auto group = library ? std::make_unique<distribute::Group>(
                                   [&library] { return distribute::mpi_transport(*library); },
                                   distribute::Deadlines{})
                             : std::make_unique<distribute::Group>();
  group->set_deadline(std::chrono::minutes(5));
  model::ModelConfig config;  // the paper's base model
  config.vocab_size = kVocabulary;
  config.max_positions = 256;
  model::Transformer model(config, 1);
  SimulatedMicrobatches gradients(model.parameters(), *group,
                                  {.microbatches = microbatches, .pass_dtype = DType::bf16});
  train::Optimizer optimizer(gradients.parts(), {});
  const std::vector<data::Batch> batches = batches_of(microbatches, sentences);
  const double of_microbatch = seconds * group->size() / static_cast<double>(microbatches);

  std::vector<double> taken;
  distribute::Group::Traffic before;
  double late = 0;
  Clock::time_point begin;
  for (int step = 0; step <= steps; ++step) {
    if (step == 1) {  // the first has allocated memory
      gradients.set_seconds(of_microbatch / 3, of_microbatch * 2 / 3);
      before = group->traffic();
      late = gradients.seconds_late();
    }
    gradients.accumulate(model, batches, {.dtype = DType::bf16, .step = step + 1});
    const double norm = gradients.norm();
    optimizer.step(gradients.take(), 1e-4, norm > 1 ? 1 / norm : 1);
    gradients.begin_all_gather();
    if (step > 0) taken.push_back(seconds_since(begin));
    begin = Clock::now();
  }
  const distribute::Group::Traffic after = group->traffic();
  const double messages = after.seconds - before.seconds;
  if (group->is_root())
    std::printf(
        "{\"step\": %.3f, \"messages\": %.3f, \"hidden\": %.3f, \"megabytes\": %.1f, \"late\": "
        "%.3f}\n",
        median(taken), messages / steps,
        1 - (after.seconds_blocked - before.seconds_blocked) / std::max(messages, 1e-9),
        static_cast<double>(after.bytes_sent - before.bytes_sent) / steps / 1e6,
        (gradients.seconds_late() - late) / steps);
  gradients.complete_weights();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ranks_step SECONDS [STEPS [LEAVES [SENTENCES]]]\n");
    return 2;
  }
  try {
    run(std::atof(argv[1]), argc > 2 ? std::max(2, std::atoi(argv[2])) : 5,
        argc > 3 ? std::atoi(argv[3]) : 8, argc > 4 ? std::atoi(argv[4]) : 1);
  } catch (const Error& error) {
    std::fprintf(stderr, "ranks_step: error: %s\n", error.what());
    return 1;
  }
}
