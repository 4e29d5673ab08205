#include "heed/train/tasks/training_pairs.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/hash.h"
#include "heed/base/parallel.h"
#include "heed/data/permutation.h"
#include "heed/train/tasks/hold_out.h"

namespace heed::train {
namespace {

constexpr size_t kJudgedPairs = 8192;  // that are in memory at once
constexpr int64_t kPairsOfThread = 64;
constexpr uint64_t kSampled = 0x73616d706c65;  // "sample", a stream of random numbers

bool is_weighted(const DataConfig& data) {
  return !data.corpora.empty() && data.corpora.front().weight > 0;
}

std::vector<double> weights_of(const DataConfig& data) {
  std::vector<double> weights;
  for (const data::Corpus& corpus : data.corpora) weights.push_back(corpus.weight);
  return weights;
}

/// Of `size` examples, how often each of `count` draws comes up with one: the places, in order.
std::vector<int64_t> drawn_places(int64_t size, int64_t count, uint64_t seed, size_t corpus) {
  const data::Permutation shuffled(size, seed, kSampled ^ (uint64_t{corpus} << 48));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) places.push_back(shuffled(i % size));
  std::ranges::sort(places);
  return places;
}

/// Orders pairs so that those of several corpora take turns.
std::vector<CorpusPair> in_turns(std::vector<CorpusPair> pairs) {
  std::vector<int64_t> seen;  // of each corpus
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < pairs.size(); ++i) {
    seen.resize(std::max(seen.size(), pairs[i].corpus + 1));
    order.emplace_back(seen[pairs[i].corpus]++, i);
  }
  std::ranges::sort(order);
  std::vector<CorpusPair> turns;
  for (const auto& [turn, i] : order) turns.push_back(std::move(pairs[i]));
  return turns;
}

}  // namespace

data::Mixture mixture_of(const DataConfig& data, std::vector<int64_t> sizes, uint64_t seed) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const data::Corpus corpus = training_corpora(data)[i];
    require(sizes[i] > 0, "{}: no training pair is left",
            corpus.tsv.empty() ? corpus.source : corpus.tsv);
  }
  if (!is_weighted(data) && data.temperature == 1) return data::Mixture(std::move(sizes));
  const std::vector<double> shares =
      is_weighted(data) ? weights_of(data) : data::temperature_shares(sizes, data.temperature);
  return {std::move(sizes), shares, seed};
}

TrainingPairs::TrainingPairs(const TrainConfig& config)
    : data_(config.data),
      seed_(config.run.seed),
      corpora_(training_corpora(config.data)),
      uses_(corpora_.size()),
      sizes_(corpora_.size()),
      reports_(corpora_.size()) {
  data::TextFilter filter(data_.text_limits);
  std::vector<CorpusPair> block;
  for (size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
    data::PairReader reader(corpora_[corpus]);
    while (auto pair = reader.next()) {
      data::add_pair(*pair, fingerprint_);
      block.push_back({corpus, reader.number(), std::move(*pair)});
      if (block.size() < kJudgedPairs) continue;
      judge(block, filter);
      block.clear();
    }
  }
  judge(block, filter);
  if (validation_corpora(data_).empty()) hold_out();
}

/// Decides what the pairs of a block are used for.
void TrainingPairs::judge(const std::vector<CorpusPair>& block, data::TextFilter& filter) {
  std::vector<std::optional<data::Drop>> problems(block.size());
  std::vector<text::LanguagePair> languages;
  for (const data::Corpus& corpus : corpora_) languages.push_back(identified_languages(corpus));
  if (data_.text_limits.any())
    parallel_for(std::ssize(block), kPairsOfThread, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        const text::LanguagePair& own = languages[block[i].corpus];
        problems[i] = filter.problem(block[i].text, own.source, own.target);
      }
    });
  for (size_t i = 0; i < block.size(); ++i) {
    const auto& [corpus, line, text] = block[i];
    const text::LanguagePair& own = languages[corpus];
    const uint64_t direction = hash_after(hash_after(0, own.source), own.target);
    if (!problems[i] && filter.repeats(text, direction)) problems[i] = data::Drop::duplicate;
    uses_[corpus].push_back(problems[i] ? Use::none : Use::training);
    if (problems[i])
      reports_[corpus].add(problems[i], line, text);
    else
      ++sizes_[corpus];
  }
}

/// Chooses pairs for validation.
void TrainingPairs::hold_out() {
  const int64_t count = std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0});
  require(count >= 2, "{} training pairs are left, too few to hold one out for validation: {}",
          count, data::FilterReport::total(reports_).text());
  const std::vector<int64_t> held = held_out_places(count, data_.held_out, seed_, "pair");
  auto next = held.begin();
  int64_t place = 0;
  for (size_t corpus = 0; corpus < corpora_.size(); ++corpus)
    for (Use& use : uses_[corpus]) {
      if (use != Use::training || next == held.end() || place++ != *next) continue;
      use = Use::validation;
      --sizes_[corpus];
      ++next;
    }
}

void TrainingPairs::for_each(const std::function<void(CorpusPair pair)>& visit) const {
  for_each_of(Use::training, visit);
}

std::vector<CorpusPair> TrainingPairs::held_out() const {
  std::vector<CorpusPair> pairs;
  if (validation_corpora(data_).empty())
    for_each_of(Use::validation, [&](CorpusPair pair) { pairs.push_back(std::move(pair)); });
  return pairs;
}

/// Throws Error when a file has changed since it was first read.
void TrainingPairs::for_each_of(Use wanted,
                                const std::function<void(CorpusPair pair)>& visit) const {
  for (size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
    data::PairReader reader(corpora_[corpus]);
    size_t line = 0;
    for (auto pair = reader.next(); pair; pair = reader.next(), ++line) {
      require(line < uses_[corpus].size(), "{} has grown while it was read",
              corpora_[corpus].source + corpora_[corpus].tsv);
      if (uses_[corpus][line] == wanted) visit({corpus, reader.number(), std::move(*pair)});
    }
    require(line == uses_[corpus].size(), "{} has shrunk while it was read",
            corpora_[corpus].source + corpora_[corpus].tsv);
  }
}

std::vector<data::SentencePair> TrainingPairs::sample(int64_t most) const {
  const int64_t all = std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0});
  const data::Mixture mixture = mixture_of(data_, sizes_, seed_);
  std::vector<int64_t> counts = mixture.draws();
  if (all > most) {
    const std::vector<double> shares(counts.begin(), counts.end());
    counts = data::apportion(std::max<int64_t>(most, std::ssize(counts)), shares);
  }
  std::vector<std::vector<int64_t>> drawn;
  for (size_t corpus = 0; corpus < counts.size(); ++corpus)
    drawn.push_back(drawn_places(sizes_[corpus], counts[corpus], seed_, corpus));
  std::vector<size_t> next(counts.size());
  std::vector<int64_t> place(counts.size());
  std::vector<data::SentencePair> pairs;
  for_each([&](const CorpusPair& pair) {
    const std::vector<int64_t>& places = drawn[pair.corpus];
    for (size_t& i = next[pair.corpus]; i < places.size() && places[i] == place[pair.corpus]; ++i)
      pairs.push_back({pair.text.source, pair.text.target});
    ++place[pair.corpus];
  });
  return pairs;
}

std::vector<CorpusPair> validation_pairs(const TrainConfig& config,
                                         std::vector<CorpusPair> held_out) {
  std::vector<CorpusPair> pairs = std::move(held_out);
  const std::vector<data::Corpus> corpora = validation_corpora(config.data);
  for (size_t corpus = 0; corpus < corpora.size(); ++corpus) {
    data::PairReader reader(corpora[corpus]);
    while (auto pair = reader.next()) pairs.push_back({corpus, reader.number(), std::move(*pair)});
  }
  return in_turns(std::move(pairs));
}

}  // namespace heed::train
