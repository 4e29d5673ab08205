#pragma once

#include "heed/tensor/dtype.h"

namespace heed {

struct Parameter;

/// Is told what a pass does with the parameters that it trains, on the thread of the pass.
class GradientHook {
 public:
  virtual ~GradientHook() = default;
  /// An op is about to read the parameter's elements in f32 or bf16.
  virtual void before_use(const Parameter& parameter, DType dtype) = 0;
  /// The same if it looks up rows of a table, whose gradient is kept apart.
  virtual void before_lookup(const Parameter& table, DType dtype) = 0;
  /// All backward steps that add to the parameter's gradient have run, but for rows that are kept
  /// apart. Called once for each parameter that the pass has used.
  virtual void gradient_complete(const Parameter& parameter) = 0;
};

}  // namespace heed
