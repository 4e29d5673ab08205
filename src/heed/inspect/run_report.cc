#include "heed/inspect/run_report.h"

#include "heed/inspect/capture.h"
#include "heed/train/progress.h"

namespace heed::inspect {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const train::Trainer& trainer) {
  const model::ModelConfig& c = trainer.model().config();
  const train::TrainingState& state = trainer.state();
  Facts facts{
      {"Parameters", fmt::format("{}", trainer.model().parameters().count())},
      {"Layers", fmt::format("{} + {}", c.encoder_layers, c.decoder_layers)},
      {"Width",
       fmt::format("d_model {}, {} heads of {}, d_ff {}", c.d_model, c.n_heads, c.d_head, c.d_ff)},
      {"Norm", fmt::format("{}-norm", name_of(c.norm_placement))},
      {"Vocabulary", fmt::format("{} pieces", c.vocab_size)},
      {"Arithmetic", std::string(name_of(trainer.dtype()))},
      {"Training pairs", fmt::format("{}", trainer.dataset().train.size())},
      {"Steps", fmt::format("{} ({} skipped as outliers)", state.step, state.skipped_steps)},
      {"Target tokens trained on", fmt::format("{}", state.target_tokens)}};
  if (!trainer.history().validations.empty())
    facts.emplace_back("Time", train::duration_text(trainer.history().validations.back().seconds));
  if (state.best_bleu >= 0)
    facts.emplace_back("Best BLEU",
                       fmt::format("{:.2f} at step {}", state.best_bleu, state.best_step));
  return facts;
}

TrainingReport::Sample sample_of(const train::Trainer& trainer,
                                 const train::SampleTranslation& sample) {
  TrainingReport::Sample shown{sample.source, sample.reference, sample.translation, {}};
  if (!sample.translation.empty())
    shown.attention =
        capture_attention(trainer.model(), trainer.dataset().tokenizer, sample.source,
                          sample.translation, {.encoder_self = false, .decoder_self = false});
  return shown;
}

}  // namespace

TrainingReport report_of(const train::Trainer& trainer) {
  TrainingReport report;
  report.title = "Training report";
  report.facts = facts_of(trainer);
  for (const train::StepRecord& r : trainer.history().steps)
    report.steps.push_back({.step = r.step,
                            .seconds = r.seconds,
                            .loss = r.loss,
                            .gradient_norm = r.gradient_norm,
                            .learning_rate = r.learning_rate,
                            .tokens_per_second = r.tokens_per_second});
  for (const train::ValidationRecord& r : trainer.history().validations)
    report.validations.push_back({.step = r.step,
                                  .seconds = r.seconds,
                                  .loss = r.loss,
                                  .perplexity = r.perplexity,
                                  .bleu = r.bleu,
                                  .chrf = r.chrf});
  if (!trainer.history().validations.empty())
    for (const train::SampleTranslation& sample : trainer.history().validations.back().samples)
      report.samples.push_back(sample_of(trainer, sample));
  return report;
}

}  // namespace heed::inspect
