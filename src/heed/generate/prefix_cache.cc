#include "heed/generate/prefix_cache.h"

#include <algorithm>
#include <iterator>

namespace heed::generate {
namespace {

/// The number of tokens with which both begin.
size_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void PrefixCache::evict(std::list<Sequence>::iterator sequence) {
  pool_.release(sequence->rows);
  rows_ -= static_cast<int64_t>(sequence->rows.size());
  sequences_.erase(sequence);
}

void PrefixCache::insert(std::span<const int32_t> tokens, std::span<const int32_t> rows,
                         std::span<const ScaledAdapter> adapters) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count == 0 || count > max_rows_) return;
  for (auto old = sequences_.begin(); old != sequences_.end();) {
    const auto next = std::next(old);
    const bool same = std::ranges::equal(adapters, old->adapters);
    const size_t common = same ? common_prefix(tokens, old->tokens) : 0;
    if (common == tokens.size()) return;  // kept already
    if (common == old->tokens.size()) evict(old);
    old = next;
  }
  while (rows_ + count > max_rows_) evict(std::prev(sequences_.end()));
  pool_.retain(rows);
  rows_ += count;
  sequences_.push_front({{tokens.begin(), tokens.end()},
                         {rows.begin(), rows.end()},
                         {adapters.begin(), adapters.end()}});
}

std::vector<int32_t> PrefixCache::find(std::span<const int32_t> tokens, size_t max_length,
                                       std::span<const ScaledAdapter> adapters) {
  size_t longest = 0;
  auto best = sequences_.end();
  for (auto sequence = sequences_.begin(); sequence != sequences_.end(); ++sequence)
    if (!std::ranges::equal(adapters, sequence->adapters))
      continue;
    else if (const size_t common = common_prefix(tokens, sequence->tokens); common > longest) {
      longest = common;
      best = sequence;
    }
  longest = std::min(longest, max_length);
  if (longest == 0) return {};
  sequences_.splice(sequences_.begin(), sequences_, best);
  const auto rows = std::span<const int32_t>(best->rows).first(longest);
  pool_.retain(rows);
  return {rows.begin(), rows.end()};
}

int64_t PrefixCache::own_rows() const {
  std::vector<int32_t> references(static_cast<size_t>(pool_.rows()));
  int64_t count = 0;
  for (const Sequence& sequence : sequences_)
    for (const int32_t row : sequence.rows)
      if (++references[static_cast<size_t>(row)] == pool_.references(row)) ++count;
  return count;
}

void PrefixCache::clear() {
  while (!sequences_.empty()) evict(sequences_.begin());
}

}  // namespace heed::generate
