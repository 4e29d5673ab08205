#pragma once

namespace heed {

struct Parameter;

/// Is told what a pass does with the parameters that it trains, on the thread of the pass.
class ParameterWatch {
 public:
  virtual ~ParameterWatch() = default;
  /// All backward steps that add to the parameter's gradient have run. Called once for each
  /// parameter that the pass has used.
  virtual void gradient_complete(const Parameter& parameter) = 0;
};

}  // namespace heed
