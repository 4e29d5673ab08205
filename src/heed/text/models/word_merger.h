#pragma once

#include <cstdint>
#include <vector>

#include "heed/text/models/merge_table.h"

namespace heed::text {

/// Merges the characters of one word, a list of pieces with links to their neighbours, by a queue
/// of the merges that are possible: O(n log n).
class WordMerger {
 public:
  explicit WordMerger(const MergeTable& merges) : merges_(merges) {}

  void add(int32_t id);
  /// Appends what is left when no two pieces merge any more.
  void merge(std::vector<int32_t>& ids);

 private:
  static constexpr int32_t kNone = -1;
  struct Symbol {
    int32_t id, previous, next;
    bool removed = false;
  };
  struct Candidate {
    int32_t rank, position, result;
    bool operator<(const Candidate& other) const {  // the least is the top of the heap
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };

  void offer(int32_t position);
  void merge_at(const Candidate& candidate);

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace heed::text
