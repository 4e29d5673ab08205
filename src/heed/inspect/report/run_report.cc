#include "heed/inspect/report/run_report.h"

#include <algorithm>
#include <map>

#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/inspect/attention/capture.h"

namespace heed::inspect {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string layers_text(const model::ModelConfig& c) {
  if (c.encoder_layers > 0 && c.decoder_layers > 0)
    return fmt::format("{} + {}", c.encoder_layers, c.decoder_layers);
  return fmt::format("{}", c.encoder_layers + c.decoder_layers);
}

/// Adds the communication of the ranks in the mean step; nothing if there was one rank.
void add_communication(const std::vector<train::StepRecord>& steps, Facts& facts) {
  train::StepCommunication sum;
  double count = 0;
  std::map<int64_t, int64_t> slowest;  // in how many steps each rank was
  for (const train::StepRecord& step : steps) {
    if (!step.communication) continue;
    sum.seconds += step.communication->seconds;
    sum.hidden += step.communication->hidden * step.communication->seconds;
    sum.bytes += step.communication->bytes;
    sum.imbalance += step.communication->imbalance;
    ++slowest[step.communication->slowest_rank];
    ++count;
  }
  if (count == 0) return;
  const auto most =
      std::ranges::max_element(slowest, {}, [](const auto& rank) { return rank.second; });
  facts.emplace_back(
      "Communication",
      fmt::format("{:.3f} s a step, {:.0f}% of it hidden; {:.1f} MB sent", sum.seconds / count,
                  100 * sum.hidden / std::max(sum.seconds, 1e-9),
                  static_cast<double>(sum.bytes) / count / 1e6));
  facts.emplace_back("Slowest rank",
                     fmt::format("{}, in {} of {} steps; the slowest computes {:.0f}% "
                                 "longer than the mean",
                                 most->first, most->second, count, 100 * sum.imbalance / count));
}

Facts facts_of(const train::Trainer& trainer) {
  const model::ModelConfig& c = trainer.model().config();
  const train::TrainingState& state = trainer.state();
  Facts facts{
      {"Parameters", fmt::format("{}", trainer.model().parameters().count())},
      {"Layers", layers_text(c)},
      {"Width", fmt::format("d_model {}, {} heads of {}, d_ff {}", c.d_model, c.n_heads, c.head_dim,
                            c.d_ff)},
      {"Normalisation", fmt::format("{}-norm", name_of(c.norm_placement))},
      {"Vocabulary", fmt::format("{} tokens", c.vocab_size)},
      {"Compute", std::string(name_of(trainer.compute()))},
      {"Task", std::string(name_of(trainer.config().run.task))},
      {"Training examples", fmt::format("{}", trainer.task().train().count())},
      {"Steps", fmt::format("{} ({} skipped as outliers)", state.step, state.skipped_steps)},
      {"Tokens trained on", fmt::format("{}", state.tokens)}};
  if (!trainer.history().validations.empty())
    facts.emplace_back("Time", duration_text(trainer.history().validations.back().seconds));
  add_communication(trainer.history().steps, facts);
  if (state.best_step > 0)
    facts.emplace_back("Best model", fmt::format("step {}", state.best_step));
  return facts;
}

/// The sample with its cross-attention, for which the page has `budget` bytes.
TrainingReport::Sample sample_of(const train::Trainer& trainer, const train::Sample& sample,
                                 int64_t budget) {
  TrainingReport::Sample shown{sample, {}};
  const text::TranslationTokenizer* tokenizer = trainer.task().translation_tokenizer();
  if (tokenizer == nullptr || sample.output.empty()) return shown;
  try {
    shown.attention = capture_attention(
        trainer.model(), read_input(trainer.model(), *tokenizer, sample.input, sample.output),
        {.kind = AttentionKind::cross, .budget = budget});
  } catch (const Error&) {
    // Early in training, an output may be too long for the model's context, or have no tokens.
  }
  return shown;
}

}  // namespace

TrainingReport report_of(const train::Trainer& trainer) {
  TrainingReport report;
  report.facts = facts_of(trainer);
  report.sample_names = trainer.task().sample_names();
  report.steps = trainer.history().steps;
  report.validations = trainer.history().validations;
  if (report.validations.empty()) return report;
  const std::vector<train::Sample>& samples = report.validations.back().samples;
  for (const train::Sample& sample : samples)
    report.samples.push_back(sample_of(trainer, sample, kPageBudget / std::ssize(samples)));
  return report;
}

}  // namespace heed::inspect
