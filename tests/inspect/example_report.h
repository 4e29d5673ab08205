#pragma once

#include <cmath>
#include <string>

#include "heed/base/random.h"
#include "heed/inspect/report/training_report.h"
#include "tests/inspect/example_capture.h"

namespace heed::inspect {

/// The report of a run with `steps` steps, a validation every `every` steps, and two samples.
inline TrainingReport example_report(int steps, int every) {
  const CounterRandom random(3);
  TrainingReport report;
  report.title = "English to French, the base model";
  report.facts = {{"model", "6 + 6 layers, d_model 512, 8 heads"},
                  {"parameters", "60.5 million"},
                  {"corpus", "europarl.en, europarl.fr: 1 904 212 pairs"},
                  {"seed", "1"},
                  {"machine", "2 cores, AVX2, 8 GB"}};
  for (int step = 1; step <= steps; ++step) {
    const auto draw = [&](int which) {
      return random.normal(static_cast<uint64_t>(step) * 8 +
                           static_cast<uint64_t>(which) * 4000000);
    };
    const double done = step;
    train::StepRecord record;
    record.step = step;
    record.seconds = 1.7 * done;
    record.loss = 2.1 + 7.5 * std::exp(-done / 700) + 2.0 * std::exp(-done / 8000) + 0.25 * draw(0);
    record.gradient_norm = std::exp(0.35 * draw(1)) * (0.6 + 5 * std::exp(-done / 500));
    record.learning_rate = 7e-4 * std::min(done / 4000, std::sqrt(4000 / done));
    record.tokens_per_second = 5200 + 260 * draw(2);
    report.steps.push_back(record);
    if (step % every != 0) continue;
    const double loss = 2.25 + 7.2 * std::exp(-done / 750) + 2.0 * std::exp(-done / 8000);
    train::ValidationRecord validation;
    validation.step = step;
    validation.seconds = 1.7 * done;
    validation.loss = loss;
    validation.perplexity = std::exp(loss - 0.9);
    validation.bleu = 36.0 * (1 - std::exp(-done / 6000));
    validation.chrf = 60.0 * (1 - std::exp(-done / 3000));
    report.validations.push_back(validation);
  }
  const AttentionCapture capture = ExampleCapture(15, 6, 8).add(AttentionKind::cross).get();
  report.samples = {{{capture.texts.source_text, capture.texts.target_text,
                      "L'accord sur l'Espace économique européen a été signé en août 1992."},
                     capture},
                    {{"What is <b>bold</b> & \"quoted\" must stay text.",
                      "Ce qui est <b>gras</b> & « cité » doit rester du texte.",
                      "Ce qui est <b>gras</b> & « cité » doit rester texte."},
                     {}}};
  return report;
}

}  // namespace heed::inspect
