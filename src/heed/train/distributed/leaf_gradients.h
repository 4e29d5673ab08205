#pragma once

#include <unordered_map>
#include <unordered_set>

#include "heed/train/distributed/parameter_all_gather.h"
#include "heed/train/step_gradients.h"

namespace heed::train {

/// The gradient of a step of several leaves, each computed from zero, with the same bits on every
/// power of two of ranks: leaves are added as a balanced binary tree, first those of a rank, then
/// those of the ranks (distribute::reduce_scatter). During the backward pass of a rank's last leaf,
/// each bucket is sent as soon as it is complete; messages move while the pass goes on. What passes
/// add to looked-up rows of token embeddings is complete when they are over: these rows, which are
/// few, are added and sent apart from the rest (sum_rows.h), so that the product of the head, which
/// is complete first, need not wait for them. Afterwards each rank has the sums of its shard of
/// every bucket, and changes the parameters there. The next passes wait for what the others have
/// changed (ParameterAllGather).
class LeafGradients : public StepGradients, protected GradientHook {
 public:
  LeafGradients(nn::Parameters& parameters, distribute::Group& group,
                const StepGradientsOptions& options);

  const std::vector<Shard>& parts() const override { return buckets_.parts(); }
  std::vector<Shard> parts_of(int rank) const override { return buckets_.parts_of(rank); }
  StepLoss accumulate(const model::Transformer& model, const std::vector<data::Batch>& batches,
                      const StepLossOptions& options) override;
  double norm() override;
  std::vector<Tensor> take() override;
  void drop() override;
  void share_weights() override { weights_.begin(); }
  void complete_weights() override { weights_.complete(); }
  void exchange_weights() override { weights_.exchange(); }
  int64_t extra_bytes() const override;

 protected:
  void before_use(const Parameter& parameter, DType dtype) override;
  void before_lookup(const Parameter& table, DType dtype) override;
  void gradient_complete(const Parameter& parameter) override;

 private:
  /// The sum of 2^level leaves.
  struct Subtree {
    int level = 0;
    std::vector<Tensor> buckets;       // flat, of those that are reduced
    std::vector<SparseGradient> rows;  // of each table
  };

  int64_t first_leaf(int rank) const { return leaves_ * rank / group_.size(); }
  Tensor flattened(const GradientBucket& bucket);
  SparseGradient rows_of(size_t table);
  void add_leaf();
  StepLoss run_last_leaf(const model::Transformer& model, std::span<const data::Batch> batches,
                         StepLossOptions options);
  void reduce_next();
  void add_rows();
  StepLoss loss_of_all(const std::vector<StepLoss>& own, const StepTokens& tokens) const;

  distribute::Group& group_;
  int64_t leaves_;
  ShardedBuckets buckets_;
  ParameterAllGather weights_;
  std::unordered_map<const Parameter*, size_t> bucket_of_;
  std::vector<size_t> tables_;     // the buckets of token embeddings
  size_t reduced_ = 0;             // buckets: those before the ones that are only looked up
  std::vector<Subtree> subtrees_;  // of the step so far
  // The reduction of a step: buckets are reduced one after the other, in the same order on every
  // rank.
  bool last_pass_ = false;
  std::unordered_set<const Parameter*> unused_;  // by the forward pass of the last pass so far
  std::vector<size_t> incomplete_;  // parameters of each bucket whose gradients are not complete
  std::vector<std::future<void>> reductions_;
  std::vector<Tensor> sums_;  // of the buckets that are being reduced or have been
};

}  // namespace heed::train
