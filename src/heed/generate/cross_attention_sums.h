#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/ops/context.h"

namespace heed::generate {

/// Sums the cross-attention weights of some tokens of a decoder's passes over layers and heads.
class CrossAttentionSums {
 public:
  /// Begins a pass, in which no token is observed yet.
  void begin_pass() { groups_.clear(); }
  /// Observes the tokens of the pass from number `first` on, one for each of `cache_rows`, the rows
  /// of their keys and values. They attend to `memory_rows` of the memory caches.
  void add(int32_t first, std::span<const int32_t> cache_rows,
           std::span<const int32_t> memory_rows);
  bool observes_any() const { return !groups_.empty(); }
  /// Adds the weights of one layer of the pass; for Context::observe_attention.
  void add_weights(AttentionSite site, const kernels::AttentionForward& in);

  /// The sums of each observed token, [source tokens] f32, by its cache row; those of other rows
  /// are old or undefined.
  const std::vector<Tensor>& by_row() const { return by_row_; }

 private:
  /// Neighbouring tokens that attend to the same keys, such as those of a beam.
  struct Group {
    kernels::AttentionMetadata spans;  // of one sequence
    std::vector<int32_t> cache_rows;
  };
  void add_weights(const Group& group, const kernels::AttentionForward& in);

  std::vector<Group> groups_;
  std::vector<Tensor> by_row_;
};

}  // namespace heed::generate
