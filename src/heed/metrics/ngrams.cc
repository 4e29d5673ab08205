#include "heed/metrics/ngrams.h"

#include <algorithm>

namespace heed::metrics {
namespace {

/// Ids of the n-grams that start at each position of a sequence. An n-gram is identified by the id
/// of its first n - 1 items and its last item, so ids are extended from order n - 1 to n.
class NgramIds {
 public:
  explicit NgramIds(std::span<const int32_t> items) : items_(items), ids_(items.size(), 0) {}

  using Numbering = std::unordered_map<uint64_t, int32_t>;
  void extend_to(size_t n, Numbering& numbering) {
    ids_.resize(items_.size() < n ? 0 : items_.size() - n + 1);
    for (size_t i = 0; i < ids_.size(); ++i) {
      const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(ids_[i])) << 32 |
                           static_cast<uint32_t>(items_[i + n - 1]);
      ids_[i] = numbering.try_emplace(key, static_cast<int32_t>(numbering.size())).first->second;
    }
  }

  const std::vector<int32_t>& ids() const { return ids_; }

 private:
  std::span<const int32_t> items_;
  std::vector<int32_t> ids_;
};

}  // namespace

std::vector<int32_t> WordIds::operator()(std::span<const std::string_view> words) {
  std::vector<int32_t> numbers;
  for (const std::string_view word : words)
    numbers.push_back(ids_.try_emplace(word, static_cast<int32_t>(ids_.size())).first->second);
  return numbers;
}

std::vector<NgramOverlap> ngram_overlaps(std::span<const int32_t> hypothesis,
                                         std::span<const std::vector<int32_t>> references,
                                         int max_order) {
  std::vector<NgramOverlap> overlaps;
  NgramIds ours(hypothesis);
  std::vector<NgramIds> theirs(references.begin(), references.end());
  for (int n = 1; n <= max_order; ++n) {
    NgramIds::Numbering numbering;
    for (NgramIds& ids : theirs) ids.extend_to(static_cast<size_t>(n), numbering);
    ours.extend_to(static_cast<size_t>(n), numbering);
    NgramOverlap overlap;
    overlap.hypothesis = static_cast<int64_t>(ours.ids().size());
    std::vector<int64_t> unmatched(numbering.size());
    for (const NgramIds& ids : theirs) {
      overlap.reference += static_cast<int64_t>(ids.ids().size());
      std::vector<int64_t> counts(numbering.size());
      for (const int32_t id : ids.ids()) {
        const auto which = static_cast<size_t>(id);
        unmatched[which] = std::max(unmatched[which], ++counts[which]);
      }
    }
    for (const int32_t id : ours.ids()) overlap.matches += unmatched[static_cast<size_t>(id)]-- > 0;
    overlaps.push_back(overlap);
  }
  return overlaps;
}

}  // namespace heed::metrics
