#include "heed/engine/distill/measured_stage.h"

#include <algorithm>
#include <chrono>

#include "heed/base/duration.h"
#include "heed/base/file.h"
#include "heed/data/parallel_text.h"
#include "heed/engine/load.h"
#include "heed/metrics.h"
#include "heed/model.h"

namespace heed::engine {

MeasuredText::MeasuredText(const std::filesystem::path& source,
                           const std::filesystem::path& target) {
  for (data::SentencePair& pair : data::read_parallel(source, target)) {
    words_ += 1 + std::ranges::count(pair.source, ' ');
    sources_.push_back(std::move(pair.source));
    references_.push_back(std::move(pair.target));
  }
}

/// The first lines are translated twice, so that the time has nothing of a first call.
DistillStage MeasuredText::measure(const std::string& name, const std::filesystem::path& path,
                                   const LoadOptions& load) const {
  using Clock = std::chrono::steady_clock;
  const Model model = Model::load(path, load);
  const auto first = static_cast<std::ptrdiff_t>(std::min<size_t>(sources_.size(), 32));
  model.translate_batch({sources_.begin(), sources_.begin() + first});
  const auto begin = Clock::now();
  std::vector<std::string> translations;
  for (const Translation& line : model.translate_batch(sources_))
    translations.push_back(line.text());
  const double seconds = seconds_between(begin, Clock::now());
  int64_t bytes = memory_to_load(open_model(path, load), load).weights;
  if (!load.shortlist.empty())
    bytes += static_cast<int64_t>(std::filesystem::file_size(load.shortlist));
  return {.name = name,
          .bleu = corpus_bleu(translations, references_).score,
          .chrf = corpus_chrf(translations, references_).score,
          .words_per_second = static_cast<double>(words_) / seconds,
          .bytes = bytes};
}

}  // namespace heed::engine
