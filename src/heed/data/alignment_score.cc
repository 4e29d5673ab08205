#include "heed/data/alignment_score.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "heed/base/random.h"

namespace heed::data {
namespace {

constexpr int kRounds = 4;
/// The probability of a pair of tokens that never occurs.
constexpr double kLeast = 1e-7;
/// The token that stands for none, besides those of the source (Brown et al. 1993).
constexpr uint64_t kNone = 0xFFFFFFFF;

uint64_t key_of(uint64_t from, int32_t to) { return (from + 1) << 32 | static_cast<uint32_t>(to); }

std::vector<uint64_t> sources_of(const std::vector<int32_t>& tokens) {
  std::vector<uint64_t> sources{kNone};
  for (const int32_t token : tokens) sources.push_back(static_cast<uint32_t>(token));
  return sources;
}

}  // namespace

AlignmentModel::AlignmentModel(std::span<const Example> pairs) {
  forward_.learn(pairs, false);
  backward_.learn(pairs, true);
}

double AlignmentModel::score(const Example& pair) const {
  return (forward_.log_probability(pair, false) + backward_.log_probability(pair, true)) / 2;
}

AlignmentModel::Table::Entry& AlignmentModel::Table::entry(uint64_t key) {
  if (2 * (filled_ + 1) > entries_.size()) grow();
  const size_t mask = entries_.size() - 1;
  size_t place = mix64(key) & mask;
  while (entries_[place].key != 0 && entries_[place].key != key) place = (place + 1) & mask;
  if (entries_[place].key == 0) {
    entries_[place] = {.key = key, .probability = 1};
    ++filled_;
  }
  return entries_[place];
}

const AlignmentModel::Table::Entry* AlignmentModel::Table::find(uint64_t key) const {
  const size_t mask = entries_.size() - 1;
  for (size_t place = mix64(key) & mask; entries_[place].key != 0; place = (place + 1) & mask)
    if (entries_[place].key == key) return &entries_[place];
  return nullptr;
}

void AlignmentModel::Table::grow() {
  std::vector<Entry> before(2 * entries_.size());
  before.swap(entries_);
  const size_t mask = entries_.size() - 1;
  for (const Entry& one : before) {
    if (one.key == 0) continue;
    size_t place = mix64(one.key) & mask;
    while (entries_[place].key != 0) place = (place + 1) & mask;
    entries_[place] = one;
  }
}

/// Expectation maximisation: each token of a target is divided among those of its source in
/// proportion to their probabilities. The first round's are equal.
void AlignmentModel::Table::learn(std::span<const Example> pairs, bool reversed) {
  for (int round = 0; round < kRounds; ++round) {
    for (const Example& pair : pairs) {
      const std::vector<uint64_t> sources = sources_of(reversed ? pair.target : pair.source);
      for (const int32_t to : reversed ? pair.source : pair.target) {
        double sum = 0;
        for (const uint64_t from : sources)
          sum += static_cast<double>(entry(key_of(from, to)).probability);
        for (const uint64_t from : sources) {
          Entry& one = entry(key_of(from, to));
          one.count += static_cast<float>(static_cast<double>(one.probability) / sum);
        }
      }
    }
    std::unordered_map<uint64_t, double> totals;  // of each source token
    for (const Entry& one : entries_)
      if (one.key != 0) totals[one.key >> 32] += static_cast<double>(one.count);
    for (Entry& one : entries_) {
      if (one.key == 0) continue;
      one.probability = static_cast<float>(static_cast<double>(one.count) / totals[one.key >> 32]);
      one.count = 0;
    }
  }
}

double AlignmentModel::Table::log_probability(const Example& pair, bool reversed) const {
  const std::vector<uint64_t> sources = sources_of(reversed ? pair.target : pair.source);
  const std::vector<int32_t>& targets = reversed ? pair.source : pair.target;
  double sum = 0;
  for (const int32_t to : targets) {
    double probability = 0;
    for (const uint64_t from : sources)
      if (const Entry* one = find(key_of(from, to)))
        probability += static_cast<double>(one->probability);
    sum += std::log(std::max(probability / static_cast<double>(sources.size()), kLeast));
  }
  return sum / static_cast<double>(std::max<size_t>(targets.size(), 1));
}

}  // namespace heed::data
