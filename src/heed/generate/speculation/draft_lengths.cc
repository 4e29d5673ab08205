#include "heed/generate/speculation/draft_lengths.h"

#include <algorithm>
#include <cmath>

#include "heed/generate/moving_average.h"

namespace heed::generate {
namespace {

constexpr size_t kMaxRows = 256;  // larger passes count as passes of this size
/// Verified tokens over which an acceptance rate is averaged: the weight of the expected one, and
/// the latest ones.
constexpr double kPriorTokens = 4, kLatestTokens = 50;
/// The share of a pass that a row costs, until passes of several sizes were measured.
constexpr double kRowCost = 0.1;
/// A draft must promise to be faster by this much.
constexpr double kMinGain = 1.03;
/// Requests between two drafts that are not expected to pay, and their tokens.
constexpr int64_t kTrialInterval = 32, kTrialTokens = 2;
/// The loss that is allowed before drafts have gained anything, in passes.
constexpr double kCredit = 2;

}  // namespace

DraftLengths::DraftLengths(const DraftSource::Acceptances& expected) : seconds_(kMaxRows + 1) {
  for (size_t kind = 0; kind < verified_.size(); ++kind)
    verified_[kind] = {kPriorTokens, kPriorTokens * expected[kind]};
}

/// Interpolated between the sizes that were measured, and continued beyond them. 0: none were.
double DraftLengths::seconds(int64_t rows) const {
  const size_t wanted = std::min(static_cast<size_t>(rows), kMaxRows);
  if (seconds_[wanted] > 0) return seconds_[wanted];
  size_t below = wanted, above = wanted;
  while (below > 0 && seconds_[below] == 0) --below;
  while (above < kMaxRows && seconds_[above] == 0) ++above;
  const double low = seconds_[below], high = seconds_[above];
  if (low == 0) return high;
  if (high > 0)
    return low +
           (high - low) * static_cast<double>(wanted - below) / static_cast<double>(above - below);
  size_t first = 0;
  while (seconds_[first] == 0) ++first;
  const double row_seconds =
      first == below ? kRowCost * low
                     : std::max(0.0, (low - seconds_[first]) / static_cast<double>(below - first));
  return low + row_seconds * static_cast<double>(wanted - below);
}

bool DraftLengths::may_lose() const { return saved_ > -(kCredit * seconds(1) + kMaxLoss * total_); }

double DraftLengths::expected_tokens(int kind, int64_t drafted) const {
  const MutexLock lock(mutex_);
  return gain_of(kind, drafted);
}

double DraftLengths::gain_of(int kind, int64_t drafted) const {
  const double acceptance = verified_[static_cast<size_t>(kind)].acceptance();
  double tokens = 0, all_right = 1;
  for (int64_t i = 0; i < drafted; ++i) tokens += all_right *= acceptance;
  return tokens;
}

int64_t DraftLengths::choose(int kind, int64_t rows, double tokens, int64_t max) {
  const MutexLock lock(mutex_);
  const double without = seconds(rows);
  if (kind == 0 || max == 0 || without == 0 || !may_lose()) return 0;
  int64_t best = 0;
  double best_rate = kMinGain * tokens / without;
  for (int64_t drafted = 1; drafted <= std::min(max, kMax); ++drafted) {
    const double rate = (tokens + gain_of(kind, drafted)) /
                        (seconds(rows + drafted) + static_cast<double>(drafted) * draft_seconds_);
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = drafted;
  }
  if (best == 0 && ++skipped_ >= kTrialInterval) best = std::min(max, kTrialTokens);
  if (best > 0) skipped_ = 0;
  return best;
}

void DraftLengths::add_verified(int kind, int64_t drafted, int64_t accepted) {
  if (drafted == 0) return;
  const MutexLock lock(mutex_);
  Verified& verified = verified_[static_cast<size_t>(kind)];
  // After the first wrong token nothing is known of the others.
  verified.drafted += static_cast<double>(std::min(accepted + 1, drafted));
  verified.accepted += static_cast<double>(accepted);
  const double shrink = std::min(1.0, kLatestTokens / verified.drafted);
  verified.drafted *= shrink;
  verified.accepted *= shrink;
}

void DraftLengths::add(const Pass& pass) {
  const MutexLock lock(mutex_);
  add_to_average(seconds_[std::min(static_cast<size_t>(pass.rows), kMaxRows)], pass.seconds);
  total_ += pass.seconds + pass.draft_seconds + pass.read_seconds;
  // Before the first draft it is not known whether reading for drafts pays.
  if (drafted_) saved_ -= pass.read_seconds;
  saved_ -= pass.draft_seconds;
  if (pass.drafted == 0) return;
  drafted_ = true;
  if (pass.draft_seconds > 0)
    add_to_average(draft_seconds_, pass.draft_seconds / static_cast<double>(pass.drafted));
  const int64_t rows = pass.rows - pass.drafted;
  const double passes = 1 + static_cast<double>(pass.accepted) / static_cast<double>(rows);
  saved_ += passes * seconds(rows) - pass.seconds;
}

}  // namespace heed::generate
