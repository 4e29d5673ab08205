#pragma once

#include "heed/tensor/tensor.h"

namespace heed::train {

struct ScheduleFreeOptions {
  float learning_rate = 0.0f;
  float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
  float weight_decay = 0.0f;      // of y
  float gradient_scale = 1.0f;    // multiplies the gradient first (clipping)
  float bias_correction2 = 1.0f;  // 1 - beta2^t at step t = 1, 2, ...
  float average_weight = 1.0f;    // of this step's z in x: c(t + 1)
};

/// One step of schedule-free AdamW (Defazio et al. 2024, "The Road Less Scheduled", algorithm 1).
/// Gradients are those at y; z makes the steps, and x is the average of all z, which y = (1 -
/// beta1) z + beta1 x determines. All are f32 and of one shape; an undefined gradient counts as
/// zero.
void schedule_free_step(Tensor& y, const Tensor& gradient, Tensor& z, Tensor& moment2,
                        const ScheduleFreeOptions& options);

/// Replaces y by the average x, which is to be evaluated.
void schedule_free_average(Tensor& y, const Tensor& z, float beta1);

}  // namespace heed::train
