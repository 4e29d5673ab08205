#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/generate/speculation/draft_source.h"

namespace heed::generate {

/// Chooses how many tokens to draft, so that a token of the output takes the least time. It
/// measures how long passes and drafts take and how often drafts are accepted. When drafts do not
/// pay it drafts only now and then, to notice when they would, and loses at most about kMaxLoss of
/// the time. Any number of threads may use it.
class DraftLengths {
 public:
  /// `expected`: the acceptance rates before any draft was verified.
  explicit DraftLengths(const DraftSource::Acceptances& expected);

  static constexpr int64_t kMax = 16;
  static constexpr double kMaxLoss = 0.02;

  /// Tokens to draft for a request of a pass that so far has `rows` rows, from which `tokens`
  /// tokens of outputs are expected; 0 to `max`.
  int64_t choose(int kind, int64_t rows, double tokens, int64_t max);
  /// The tokens of the output that are expected from a draft.
  double expected_tokens(int kind, int64_t drafted) const;

  /// Records that the first `accepted` of so many drafted tokens were accepted.
  void add_verified(int kind, int64_t drafted, int64_t accepted);
  /// A pass with `rows` rows, of which so many were drafted.
  struct Pass {
    int64_t rows = 0, drafted = 0, accepted = 0;
    double seconds = 0;  // of the pass
    // Before the pass: of drafting, and of reading tokens for which nothing was drafted.
    double draft_seconds = 0, read_seconds = 0;
  };
  void add(const Pass& pass);

 private:
  /// The time of a pass with so many rows.
  double seconds(int64_t rows) const HEED_REQUIRES(mutex_);
  bool may_lose() const HEED_REQUIRES(mutex_);
  double gain_of(int kind, int64_t drafted) const HEED_REQUIRES(mutex_);

  struct Verified {
    double drafted, accepted;  // the latest tokens
    double acceptance() const { return accepted / drafted; }
  };
  mutable Mutex mutex_;
  std::array<Verified, DraftSource::kKinds> verified_ HEED_GUARDED_BY(mutex_);
  /// Moving averages, for each number of rows; 0: none yet.
  std::vector<double> seconds_ HEED_GUARDED_BY(mutex_);
  double draft_seconds_ HEED_GUARDED_BY(mutex_) = 0;  // of a drafted token, a moving average
  int64_t skipped_ HEED_GUARDED_BY(mutex_) = 0;   // calls of choose() since something was drafted
  double total_ HEED_GUARDED_BY(mutex_) = 0;      // seconds of all passes
  double saved_ HEED_GUARDED_BY(mutex_) = 0;      // of them, by drafts; negative: lost
  bool drafted_ HEED_GUARDED_BY(mutex_) = false;  // anything yet
};

}  // namespace heed::generate
