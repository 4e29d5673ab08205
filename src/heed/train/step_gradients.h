#pragma once

#include <memory>

#include "heed/distribute/group.h"
#include "heed/train/distributed/gradient_buckets.h"
#include "heed/train/step_loss.h"

namespace heed::train {

/// The gradient of a step: computed as a whole by one process, or as a sum over microbatches that
/// the ranks of a group share. All functions are collective.
class StepGradients {
 public:
  virtual ~StepGradients() = default;

  /// The parts of the parameters that this rank's optimizer changes.
  virtual const std::vector<Shard>& parts() const = 0;
  /// The parts that another rank's optimizer changes.
  virtual std::vector<Shard> parts_of(int rank) const = 0;
  /// Runs the passes of the step; returns the loss of all ranks.
  virtual StepLoss accumulate(const model::Transformer& model,
                              const std::vector<data::Batch>& batches,
                              const StepLossOptions& options) = 0;
  /// The L2 norm of the gradient of all parameters as one vector.
  virtual double norm() = 0;
  /// The gradients of parts(), in their order; undefined ones are zero. They are used up.
  virtual std::vector<Tensor> take() = 0;
  /// Sets the gradient to zero without an optimizer's step.
  virtual void discard() = 0;
  /// After the optimizer's step: begins to send the changed parts to the other ranks.
  virtual void begin_all_gather() = 0;
  /// Waits until the values of all parameters are complete. To be called before anything but
  /// accumulate() reads them.
  virtual void complete_weights() = 0;
  /// Sends the parts that this rank has changed since complete_weights() to all ranks, and waits
  /// for theirs.
  virtual void all_gather_weights() = 0;
  /// Bytes that it holds during a step beside the gradients of a pass.
  virtual int64_t extra_bytes() const = 0;

  /// All parameters that are trained, in the model's order.
  const std::vector<Parameter*>& trained() const { return trained_; }
  /// The gradients to which a pass adds.
  Gradients& pass_gradients() { return pass_gradients_; }

 protected:
  explicit StepGradients(nn::Parameters& parameters)
      : trained_(trained_parameters(parameters)), pass_gradients_(parameters.all()) {}

  std::vector<Parameter*> trained_;
  Gradients pass_gradients_;
};

struct StepGradientsOptions {
  int64_t microbatches = 1;
  bool keep_matrices = false;                         // the optimizer changes whole matrices
  std::vector<const Parameter*> only_looked_up = {};  // see BucketOptions
  DType pass_dtype = DType::f32;                      // in which passes compute
  int64_t bucket_bytes = BucketOptions().bytes;
};

/// For one process that computes a step as a whole. The parameters must outlive it.
std::unique_ptr<StepGradients> make_step_gradients(nn::Parameters& parameters);
/// The same if a step has one microbatch, otherwise for the ranks of `group`, which must outlive
/// it.
std::unique_ptr<StepGradients> make_step_gradients(nn::Parameters& parameters,
                                                   distribute::Group& group,
                                                   const StepGradientsOptions& options);

}  // namespace heed::train
