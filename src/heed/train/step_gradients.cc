#include "heed/train/step_gradients.h"

#include <cmath>
#include <utility>

#include "heed/kernels/elementwise.h"
#include "heed/train/distributed/microbatch_gradients.h"
#include "heed/train/losses/vector_gradients.h"

namespace heed::train {
namespace {

/// The gradient of one microbatch in one process.
class WholeGradients : public StepGradients {
 public:
  explicit WholeGradients(nn::Parameters& parameters) : StepGradients(parameters) {
    for (Parameter* const parameter : trained_)
      parts_.push_back({parameter, 0, parameter->shape.elements()});
  }

  const std::vector<Shard>& parts() const override { return parts_; }

  std::vector<Shard> parts_of(int) const override { return parts_; }

  StepLoss accumulate(const model::Transformer& model, const std::vector<data::Batch>& batches,
                      const StepLossOptions& options) override {
    if (!compares_batches(batches))
      return accumulate_gradients(model, pass_gradients_, batches, options);
    distribute::Group alone;
    const VectorGradients vectors = vector_gradients(model, pass_gradients_, batches,
                                                     {0, batches.size(), alone}, options, nullptr);
    StepLossOptions with_vectors = options;
    with_vectors.vectors = &vectors;
    return accumulate_gradients(model, pass_gradients_, batches, with_vectors);
  }

  double norm() override { return std::sqrt(kernels::sum_of_all_squares(gradients())); }

  std::vector<Tensor> take() override {
    std::vector<Tensor> all = gradients();
    pass_gradients_.set_zero();
    return all;
  }

  void discard() override { pass_gradients_.set_zero(); }
  void begin_all_gather() override {}
  void complete_weights() override {}
  void all_gather_weights() override {}
  int64_t extra_bytes() const override { return 0; }

 private:
  std::vector<Tensor> gradients() const {
    std::vector<Tensor> all;
    all.reserve(parts_.size());
    for (const Shard& part : parts_) all.push_back(pass_gradients_.of(*part.parameter).tensor());
    return all;
  }

  std::vector<Shard> parts_;
};

}  // namespace

std::unique_ptr<StepGradients> make_step_gradients(nn::Parameters& parameters) {
  return std::make_unique<WholeGradients>(parameters);
}

std::unique_ptr<StepGradients> make_step_gradients(nn::Parameters& parameters,
                                                   distribute::Group& group,
                                                   const StepGradientsOptions& options) {
  if (options.microbatches == 1) return make_step_gradients(parameters);
  return std::make_unique<MicrobatchGradients>(parameters, group, options);
}

}  // namespace heed::train
