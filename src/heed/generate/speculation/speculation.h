#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "heed/generate/speculation/draft_lengths.h"

namespace heed::generate {

/// Drafts as many tokens of a source as make outputs faster.
class Speculation : public Drafter {
 public:
  /// `lengths` may be shared by all drafters of a model that have the same kind of source.
  Speculation(std::unique_ptr<DraftSource> source, std::shared_ptr<DraftLengths> lengths)
      : source_(std::move(source)), lengths_(std::move(lengths)) {}

  void draft(std::span<DraftRequest> requests, int64_t rows) override;
  void verified(std::span<const int64_t> accepted) override;
  void forget(uint64_t id) override { source_->forget(id); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Drafted {
    int kind;
    int64_t tokens;
  };

  std::unique_ptr<DraftSource> source_;
  std::shared_ptr<DraftLengths> lengths_;
  // Of the pass that is being computed:
  std::vector<Drafted> drafted_;  // for each request
  std::vector<DraftSource::Wanted> wanted_;
  DraftLengths::Pass pass_;
  Clock::time_point start_;
};

}  // namespace heed::generate
