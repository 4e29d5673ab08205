#pragma once

#include <unordered_map>
#include <vector>

#include "heed/generate/speculation/draft_source.h"

namespace heed::generate {

/// Drafts what followed the last tokens where they occurred before, in the source, the prompt or
/// the output (prompt lookup decoding, Saxena 2023).
class NgramDrafts : public DraftSource {
 public:
  /// The number of last tokens that occurred before, at most kMaxMatch, less 1; 0 if the last
  /// kMinMatch tokens did not.
  int kind(const DraftRequest& request) override;
  double draft(std::span<const Wanted> wanted) override;
  void forget(uint64_t id) override { histories_.erase(id); }

  static constexpr size_t kMinMatch = 2, kMaxMatch = 8;
  /// The expected acceptance rates before any draft was verified.
  static constexpr Acceptances kAcceptances{0, 0.4, 0.6, 0.8, 0.8, 0.8, 0.8, 0.8};
  static_assert(kMaxMatch - 1 < kKinds);

 private:
  /// The tokens of a request, and where the same kMinMatch tokens ended before.
  struct History {
    std::vector<int32_t> tokens;
    std::vector<int64_t> earlier;                    // for each token; -1: nowhere
    std::unordered_map<uint64_t, int64_t> last_end;  // of each pair of tokens
    size_t given = 0;                                // tokens of the source and the prompt
    int64_t match = -1;                              // where the longest match ends

    void append(std::span<const int32_t> more);
    /// Sets `match` and returns its length; 0 if there is none.
    size_t find_match();
  };

  std::unordered_map<uint64_t, History> histories_;
};

}  // namespace heed::generate
