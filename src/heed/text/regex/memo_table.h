#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::text {

/// Remembers the outcome of each choice of a program (Instruction::memo) at each position of a
/// text. Choice and position determine everything that follows, so none is tried twice. This keeps
/// backtracking from taking exponential time. Memory: one bit per position for each choice that
/// occurs.
class MemoTable {
 public:
  enum class Outcome { unknown, failed, succeeded };

  /// Until this is called, nothing is remembered.
  void start(size_t positions, size_t memos) {
    positions_ = positions;
    failed_.resize(memos);
    succeeded_.resize(memos);
  }
  bool is_on() const { return positions_ > 0; }

  /// The outcome of a choice so far. An unknown one is recorded as failed. That is correct while
  /// the choice is being tried, because a second try nested in the first cannot succeed, and it
  /// stays correct unless succeed() or forget() is called for it.
  Outcome visit(uint32_t memo, size_t position) {
    if (get(succeeded_[memo], position)) return Outcome::succeeded;
    if (get(failed_[memo], position)) return Outcome::failed;
    set(failed_[memo], position);
    return Outcome::unknown;
  }
  void succeed(uint32_t memo, size_t position) { set(succeeded_[memo], position); }
  void forget(uint32_t memo, size_t position) {
    if (!failed_[memo].empty()) failed_[memo][position] = false;
  }

 private:
  using Bits = std::vector<bool>;

  static bool get(const Bits& bits, size_t position) { return !bits.empty() && bits[position]; }
  void set(Bits& bits, size_t position) const {
    if (bits.empty()) bits.resize(positions_);
    bits[position] = true;
  }

  size_t positions_ = 0;
  std::vector<Bits> failed_, succeeded_;  // by memo; empty where nothing was noted
};

}  // namespace heed::text
