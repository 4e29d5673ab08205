#pragma once

#include "heed/train/gradient_buckets.h"
#include "heed/train/step_gradients.h"

namespace heed::train {

/// The gradient of a step of several leaves, each computed from zero, with the same bits on every
/// power of two of ranks: leaves are added as a balanced binary tree, first those of a rank, then
/// those of the ranks (distribute::reduce_scatter). Afterwards each rank has the sums of its shard
/// of every bucket, and changes the parameters there (ZeRO, stage 1; Rajbhandari et al. 2020).
class LeafGradients : public StepGradients {
 public:
  LeafGradients(nn::Parameters& parameters, distribute::Group& group,
                const StepGradientsOptions& options);

  const std::vector<TrainedPart>& parts() const override { return parts_; }
  std::vector<TrainedPart> parts_of(int rank) const override;
  StepLoss accumulate(const model::Transformer& model, const std::vector<data::Batch>& batches,
                      const StepLossOptions& options) override;
  double norm() override;
  std::vector<Tensor> take() override;
  void drop() override;
  void share_weights() override;
  int64_t extra_bytes() const override;

 private:
  /// The sum of 2^level leaves: a flat tensor for each bucket.
  struct Subtree {
    int level = 0;
    std::vector<Tensor> buckets;
  };

  int64_t first_leaf(int rank) const { return leaves_ * rank / group_.size(); }
  std::vector<Tensor> flattened();
  void add(Subtree leaf);
  void reduce();
  StepLoss loss_of_all(const std::vector<StepLoss>& own, const StepTokens& tokens) const;
  /// The elements of a bucket that are a rank's.
  std::pair<int64_t, int64_t> shard(size_t bucket, int rank) const;

  distribute::Group& group_;
  int64_t leaves_;
  std::vector<GradientBucket> buckets_;
  std::vector<distribute::Bounds> shards_;  // of each bucket
  std::vector<TrainedPart> parts_;
  std::vector<size_t> bucket_of_part_;
  std::vector<int64_t> place_of_part_;  // of its first element in the bucket
  std::vector<Subtree> sums_;           // of the step so far; at its end one
};

}  // namespace heed::train
