#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/data/fingerprint.h"
#include "heed/data/mixture.h"
#include "heed/data/text_filter.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// A sentence pair of a corpus.
struct CorpusPair {
  size_t corpus = 0;  // its place in the configuration
  int64_t line = 0;   // in its file, from 1
  data::SentencePair text;
};

/// How often each corpus of the configuration is drawn, by its weight or its size. Throws Error,
/// naming the corpus, when one has no pairs.
data::Mixture mixture_of(const DataConfig& data, std::vector<int64_t> sizes, uint64_t seed);

/// The parallel text that a run trains on. It is read from its files each time it is needed, so its
/// size is not limited by memory.
class TrainingPairs {
 public:
  /// Reads all corpora, drops pairs for their text, and chooses those for validation if no text is
  /// given for that. Throws Error as data::PairReader and held_out_places() do.
  explicit TrainingPairs(const TrainConfig& config);

  /// Of all pairs, before any is dropped or held out.
  const data::Fingerprint& fingerprint() const { return fingerprint_; }
  /// The pairs of each corpus that were dropped for their text; none is counted as kept.
  const std::vector<data::FilterReport>& reports() const { return reports_; }

  /// Calls visit(pair) for each pair of each corpus, in order.
  void for_each(const std::function<void(CorpusPair pair)>& visit) const;
  /// The held-out pairs, none if there is a text for validation.
  std::vector<CorpusPair> held_out() const;
  /// Some pairs, at most `most`, as many of each corpus as the mixture draws: all, once, if these
  /// are fewer and the corpora are drawn in proportion to their sizes. Without their links.
  std::vector<data::SentencePair> sample(int64_t most) const;

 private:
  enum class Use : uint8_t { training, validation, none };
  void judge(const std::vector<CorpusPair>& block, data::TextFilter& filter);
  void hold_out();
  void for_each_of(Use wanted, const std::function<void(CorpusPair pair)>& visit) const;

  DataConfig data_;
  uint64_t seed_;
  std::vector<data::Corpus> corpora_;
  std::vector<std::vector<Use>> uses_;  // of each line of each corpus
  std::vector<int64_t> sizes_;          // pairs for training of each corpus
  data::Fingerprint fingerprint_;
  std::vector<data::FilterReport> reports_;
};

/// The pairs for validation: those of the texts that the configuration names, or `held_out`. Those
/// of several corpora take turns, so that the first ones are of all.
std::vector<CorpusPair> validation_pairs(const TrainConfig& config,
                                         std::vector<CorpusPair> held_out);

}  // namespace heed::train
