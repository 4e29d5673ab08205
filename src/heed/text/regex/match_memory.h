#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::text {

/// Which choices of a program (Instruction::memory) were made at which positions of a text, and
/// what came of them. A choice and a position determine everything that follows, so none needs to
/// be tried twice; this is what keeps backtracking from taking exponential time. One bit per choice
/// and position, for the choices that occur.
class MatchMemory {
 public:
  enum class Outcome { unknown, failed, succeeded };

  /// Nothing is remembered before.
  void start(size_t positions, size_t memories) {
    positions_ = positions;
    failed_.resize(memories);
    succeeded_.resize(memories);
  }
  bool is_on() const { return positions_ > 0; }

  /// What is known of a choice. One that is not known counts as failed from now on, which is what
  /// it is unless succeed() or forget() follows: while it is being tried, trying it again from
  /// within cannot help.
  Outcome visit(uint32_t memory, size_t position) {
    if (get(succeeded_[memory], position)) return Outcome::succeeded;
    if (get(failed_[memory], position)) return Outcome::failed;
    set(failed_[memory], position);
    return Outcome::unknown;
  }
  void succeed(uint32_t memory, size_t position) { set(succeeded_[memory], position); }
  void forget(uint32_t memory, size_t position) {
    if (!failed_[memory].empty()) failed_[memory][position] = false;
  }

 private:
  using Bits = std::vector<bool>;

  static bool get(const Bits& bits, size_t position) { return !bits.empty() && bits[position]; }
  void set(Bits& bits, size_t position) const {
    if (bits.empty()) bits.resize(positions_);
    bits[position] = true;
  }

  size_t positions_ = 0;
  std::vector<Bits> failed_, succeeded_;  // by memory; empty where nothing was noted
};

}  // namespace heed::text
