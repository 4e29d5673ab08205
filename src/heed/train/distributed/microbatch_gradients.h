#pragma once

#include <unordered_set>

#include "heed/train/distributed/parameter_all_gather.h"
#include "heed/train/step_gradients.h"

namespace heed::train {

/// The gradient of a step of several microbatches, whose number does not depend on the ranks. It
/// has the same bits on every power of two of ranks: the gradient of each microbatch is computed
/// from zero, and they are added as a balanced binary tree, first those of a rank, then those of
/// the ranks (distribute::reduce_scatter).
///
/// During the backward pass of a rank's last microbatch, the reduction of each bucket begins as
/// soon as its gradients are complete. The gradients of looked-up rows of token embeddings are
/// complete only when the pass is over. They are few, and are reduced apart from the rest
/// (sum_rows.h), so that the gradient of a tied head, which is complete first, need not wait for
/// them. Afterwards each rank has the sums of its shard of every bucket, and changes the parameters
/// there. The next passes wait for the parameters that the other ranks have changed
/// (ParameterAllGather).
class MicrobatchGradients : public StepGradients, protected GradientHook {
 public:
  MicrobatchGradients(nn::Parameters& parameters, distribute::Group& group,
                      const StepGradientsOptions& options);

  const std::vector<Shard>& parts() const override { return buckets_.parts(); }
  std::vector<Shard> parts_of(int rank) const override { return buckets_.parts_of(rank); }
  StepLoss accumulate(const model::Transformer& model, const std::vector<data::Batch>& batches,
                      const StepLossOptions& options) override;
  double norm() override;
  std::vector<Tensor> take() override;
  void discard() override;
  void begin_all_gather() override { weights_.begin(); }
  void complete_weights() override { weights_.complete(); }
  void all_gather_weights() override { weights_.all_gather(); }
  int64_t extra_bytes() const override;

 protected:
  void before_use(const Parameter& parameter, DType dtype) override;
  void before_lookup(const Parameter& table, DType dtype) override;
  void gradient_complete(const Parameter& parameter) override;

 private:
  /// The sum of 2^level microbatches.
  struct Subtree {
    int level = 0;
    std::vector<Tensor> buckets;       // the first reduced_ ones, flat
    std::vector<SparseGradient> rows;  // the looked-up rows of each table
  };

  int64_t first_microbatch(int rank) const { return microbatches_ * rank / group_.size(); }
  Tensor flattened(const GradientBucket& bucket);
  SparseGradient rows_of(size_t table);
  void add_microbatch();
  StepLoss run_last_microbatch(const model::Transformer& model,
                               std::span<const data::Batch> batches, StepLossOptions options);
  void reduce_next();
  void add_rows();
  StepLoss loss_of_all(const std::vector<StepLoss>& own, const StepTokens& tokens) const;

  distribute::Group& group_;
  int64_t microbatches_;
  ShardedBuckets buckets_;
  ParameterAllGather weights_;
  std::vector<size_t> tables_;     // the buckets of token embeddings
  size_t reduced_ = 0;             // buckets, before those that are only looked up
  std::vector<Subtree> subtrees_;  // of the step so far
  // The reduction of a step, whose buckets have the same order on every rank.
  bool last_pass_ = false;
  std::unordered_set<const Parameter*> unused_;  // parameters not yet used by the last pass
  std::vector<size_t> incomplete_;  // the number of incomplete gradients of each bucket
  std::vector<std::future<void>> reductions_;
  std::vector<Tensor> sums_;  // of the buckets whose reduction has begun
};

}  // namespace heed::train
