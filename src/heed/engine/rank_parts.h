#pragma once

#include "heed/distribute/messenger.h"
#include "heed/nn/tensor_parallel.h"

namespace heed::engine {

/// The parts of a model that is divided among ranks. Passes run on the thread that owns the
/// messages: two sums in each layer leave no time to wake another one.
class RankParts : public nn::TensorParallel {
 public:
  RankParts(int rank, int size);

  /// To be called before a pass.
  void use(distribute::Messenger& messenger) { messenger_ = &messenger; }
  void all_reduce(std::span<float> values) const override;
  void all_gather(std::span<float> values, const std::vector<int64_t>& bounds) const override;

 private:
  distribute::Messenger* messenger_ = nullptr;
};

}  // namespace heed::engine
