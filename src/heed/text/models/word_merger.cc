#include "heed/text/models/word_merger.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/step_check.h"

namespace heed::text {

void WordMerger::add(int32_t id) {
  require_input(symbols_.size() < std::numeric_limits<int32_t>::max(), "a word is too long");
  const auto position = static_cast<int32_t>(symbols_.size());
  if (position > 0) symbols_.back().next = position;
  symbols_.push_back({id, position - 1, kNone});
}

void WordMerger::offer(int32_t position) {
  const Symbol& left = symbols_[static_cast<size_t>(position)];
  if (left.next == kNone) return;
  const BpeMerge* merge = merges_.find(left.id, symbols_[static_cast<size_t>(left.next)].id);
  if (merge == nullptr) return;
  heap_.push_back({merge->rank, position, merge->result});
  std::push_heap(heap_.begin(), heap_.end());
}

void WordMerger::merge_at(const Candidate& candidate) {
  Symbol& left = symbols_[static_cast<size_t>(candidate.position)];
  if (left.removed || left.next == kNone) return;
  Symbol& right = symbols_[static_cast<size_t>(left.next)];
  // A neighbour may have changed since. As in `tokenizers`, the merge is still valid when its
  // result is the same.
  const BpeMerge* merge = merges_.find(left.id, right.id);
  if (merge == nullptr || merge->result != candidate.result) return;
  left.id = candidate.result;
  left.next = right.next;
  right.removed = true;
  if (left.next != kNone) symbols_[static_cast<size_t>(left.next)].previous = candidate.position;
  if (left.previous != kNone) offer(left.previous);
  offer(candidate.position);
}

void WordMerger::merge(std::vector<int32_t>& ids) {
  heap_.reserve(symbols_.size());
  for (int32_t position = 0; position + 1 < static_cast<int32_t>(symbols_.size()); ++position)
    offer(position);
  for (StepCheck check; !heap_.empty(); check.step()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    merge_at(candidate);
  }
  for (const Symbol& symbol : symbols_)
    if (!symbol.removed) ids.push_back(symbol.id);
}

}  // namespace heed::text
