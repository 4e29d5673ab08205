#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "heed/generate/row_pool.h"
#include "heed/ops/context.h"

namespace heed::generate {

/// Token sequences whose keys and values are kept after their requests have ended, so that a later
/// request that begins with the same tokens need not compute them again. The least recently used
/// sequences are evicted first.
class PrefixCache {
 public:
  /// Holds at most `max_rows` rows of the pool, which must outlive this. 0: keeps nothing.
  PrefixCache(RowPool& pool, int64_t max_rows) : pool_(pool), max_rows_(max_rows) {}
  ~PrefixCache() { clear(); }
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  /// Keeps a sequence and takes a reference to `rows`, the row of each of `tokens`, which were
  /// computed with these adapters.
  void insert(std::span<const int32_t> tokens, std::span<const int32_t> rows,
              std::span<const ScaledAdapter> adapters);
  /// The rows of the longest kept prefix of `tokens` that was computed with the same adapters, at
  /// most `max_length` rows. The caller gets a reference to them.
  std::vector<int32_t> find(std::span<const int32_t> tokens, size_t max_length,
                            std::span<const ScaledAdapter> adapters);
  void clear();

  /// Rows of all sequences; a row of several counts several times.
  int64_t rows() const { return rows_; }
  /// Rows of the pool that nothing else refers to. Counts them one by one.
  int64_t own_rows() const;

 private:
  struct Sequence {
    std::vector<int32_t> tokens, rows;
    std::vector<ScaledAdapter> adapters;
  };
  void evict(std::list<Sequence>::iterator sequence);

  RowPool& pool_;
  int64_t max_rows_, rows_ = 0;
  std::list<Sequence> sequences_;  // the most recently used first
};

}  // namespace heed::generate
