#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "heed/generate/speculation/drafter.h"

namespace heed::generate {

/// A source of drafted tokens.
class DraftSource {
 public:
  virtual ~DraftSource() = default;

  /// The kind of draft that there is for a request, below kKinds; 0: none. Drafts of one kind are
  /// accepted about equally often.
  virtual int kind(const DraftRequest& request) = 0;
  static constexpr int kKinds = 8;
  /// The acceptance rate of a drafted token of each kind.
  using Acceptances = std::array<double, kKinds>;

  /// A request for whose draft kind() was just asked, and the tokens to draft, at least one.
  struct Wanted {
    DraftRequest* request;
    int64_t tokens;
  };
  /// Appends the tokens wanted, or fewer, to each draft. Returns the seconds spent on reading
  /// tokens for which nothing was drafted, such as those of a new prompt.
  virtual double draft(std::span<const Wanted> wanted) = 0;
  virtual void forget(uint64_t id) = 0;
};

}  // namespace heed::generate
