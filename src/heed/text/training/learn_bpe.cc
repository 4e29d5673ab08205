#include "heed/text/training/learn_bpe.h"

#include <algorithm>
#include <unordered_set>

#include "heed/base/random.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

struct IdPair {
  int32_t left, right;

  friend auto operator<=>(const IdPair&, const IdPair&) = default;
};

struct HashOfPair {
  size_t operator()(const IdPair& pair) const {
    return mix64((static_cast<uint64_t>(static_cast<uint32_t>(pair.left)) << 32) |
                 static_cast<uint32_t>(pair.right));
  }
};

template <typename Value>
using ByPair = std::unordered_map<IdPair, Value, HashOfPair>;

/// A distinct word of the text as the pieces that it has at the moment.
struct Word {
  std::vector<int32_t> ids;
  int64_t count;
};

/// A pair that may be merged next, and the words it was found in. The count may be out of date.
struct Candidate {
  IdPair pair;
  int64_t count;
  std::vector<size_t> words;

  bool operator<(const Candidate& other) const {  // the greatest is merged first
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class BpeLearner {
 public:
  BpeLearner(const WordCounts& words, std::vector<std::string> first) {
    for (std::string& piece : first) add_piece(std::move(piece));
    // In a fixed order, so that nothing depends on the hash table.
    std::vector<const WordCounts::value_type*> sorted;
    for (const auto& entry : words) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* entry : sorted) add_word(entry->first, entry->second);
    offer_new_pairs();
  }

  LearnedBpe learn(int64_t vocab_size, int64_t min_frequency) {
    while (pieces_.count() < vocab_size && !queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      Candidate next = std::move(queue_.back());
      queue_.pop_back();
      if (const int64_t now = counts_[next.pair]; now != next.count) {
        next.count = now;
        offer(std::move(next));
        continue;
      }
      if (next.count < std::max<int64_t>(min_frequency, 1)) break;
      merge(next);
    }
    return {pieces_by_id(), last_of_each(merges_)};
  }

 private:
  int32_t add_piece(std::string piece) {
    if (const auto known = pieces_.find(piece)) return *known;
    const int32_t id = pieces_.count();
    pieces_.add(std::move(piece), id);
    return id;
  }

  void add_word(const std::string& text, int64_t count) {
    Word word{{}, count};
    for_each_code_point(text, [&](const CodePoint&, std::string_view bytes) {
      if (const auto id = pieces_.find(bytes)) word.ids.push_back(*id);
    });
    for (size_t i = 0; i + 1 < word.ids.size(); ++i)
      change({word.ids[i], word.ids[i + 1]}, count, words_.size());
    words_.push_back(std::move(word));
  }

  /// Counts a pair of a word `count` more, or less, often.
  void change(const IdPair& pair, int64_t count, size_t word) {
    counts_[pair] += count;
    if (count < 0) return;
    std::vector<size_t>& places = fresh_[pair];
    if (places.empty() || places.back() != word) places.push_back(word);
  }

  void offer(Candidate&& candidate) {
    queue_.push_back(std::move(candidate));
    std::push_heap(queue_.begin(), queue_.end());
  }

  void offer_new_pairs() {
    for (auto& [pair, words] : fresh_)
      if (const int64_t count = counts_[pair]; count > 0) offer({pair, count, std::move(words)});
    fresh_.clear();
  }

  void merge(const Candidate& next) {
    const int32_t id = add_piece(*pieces_.piece(next.pair.left) + *pieces_.piece(next.pair.right));
    merges_.push_back(next.pair);
    for (const size_t word : next.words) merge_in(word, next.pair, id);
    offer_new_pairs();
  }

  /// As in `tokenizers`, the count of the merged pair itself is left as it is: a piece may arise in
  /// two ways, and then the pair is met again.
  void merge_in(size_t number, const IdPair& pair, int32_t merged) {
    Word& word = words_[number];
    std::vector<int32_t>& ids = word.ids;
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i + 1 == ids.size() || ids[i] != pair.left || ids[i + 1] != pair.right) {
        ids[kept++] = ids[i];
        continue;
      }
      if (kept > 0) {
        change({ids[kept - 1], pair.left}, -word.count, number);
        change({ids[kept - 1], merged}, word.count, number);
      }
      if (i + 2 < ids.size()) {
        change({pair.right, ids[i + 2]}, -word.count, number);
        change({merged, ids[i + 2]}, word.count, number);
      }
      ids[kept++] = merged;
      ++i;
    }
    ids.resize(kept);
  }

  std::vector<std::string> pieces_by_id() const {
    std::vector<std::string> pieces;
    for (int32_t id = 0; id < pieces_.end(); ++id) pieces.push_back(*pieces_.piece(id));
    return pieces;
  }

  /// Of a pair that was merged twice the last merge counts.
  static std::vector<std::pair<int32_t, int32_t>> last_of_each(const std::vector<IdPair>& merges) {
    std::vector<std::pair<int32_t, int32_t>> kept;
    std::unordered_set<IdPair, HashOfPair> seen;
    for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge)
      if (seen.insert(*merge).second) kept.emplace_back(merge->left, merge->right);
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

  Vocabulary pieces_;
  std::vector<Word> words_;
  ByPair<int64_t> counts_;
  ByPair<std::vector<size_t>> fresh_;  // pairs that arose since they were last offered
  std::vector<Candidate> queue_;       // a heap
  std::vector<IdPair> merges_;
};

}  // namespace

LearnedBpe learn_bpe(const WordCounts& words, std::vector<std::string> first, int64_t vocab_size,
                     int64_t min_frequency) {
  return BpeLearner(words, std::move(first)).learn(vocab_size, min_frequency);
}

}  // namespace heed::text
