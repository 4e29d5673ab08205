#include "heed/train/validation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/duration.h"

namespace heed::train {
namespace {

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string scores_text(const ValidationRecord& record, bool best) {
  std::string text = fmt::format("perplexity {:.2f}", record.perplexity);
  if (record.bleu) text += fmt::format(", BLEU {:.2f}", *record.bleu);
  if (record.chrf) text += fmt::format(", chrF {:.2f}", *record.chrf);
  return text + (best ? " (best)" : "");
}

std::vector<std::string> validation_text(const ValidationRecord& r, const SampleNames& names,
                                         size_t turn) {
  std::vector<std::string> lines{fmt::format(
      "step {}, epoch {}, {}: train loss {:.3f}, validation loss {:.3f}, {}", r.step, r.epoch + 1,
      duration_text(r.seconds), r.train_loss, r.loss, scores_text(r, r.best))};
  if (r.samples.empty()) return lines;
  const Sample& sample = r.samples[turn % r.samples.size()];
  for (const auto& [name, text] : {std::pair{&names.input, &sample.input},
                                   {&names.output, &sample.output},
                                   {&names.reference, &sample.reference}})
    lines.push_back(fmt::format("    {:<14}{}", *name + ":", on_one_line(*text)));
  return lines;
}

}  // namespace heed::train
