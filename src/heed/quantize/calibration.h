#pragma once

#include <map>
#include <memory>
#include <string>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"
#include "heed/quantize/gptq.h"

namespace heed::quantize {

/// Statistics of the inputs of a model's weights on calibration text: H = sum of x^T x for each
/// weight, from which GPTQ derives how to round it.
class Calibration {
 public:
  Calibration() = default;
  /// Keeps the whole H [K, K] of weights as long as they fit into `max_bytes`, then only its
  /// diagonal, which gives a larger rounding error.
  explicit Calibration(int64_t max_bytes) : bytes_left_(max_bytes) {}

  /// Observes the inputs of all passes that use `context`. This must outlive the context.
  void watch(Context& context);
  /// Adds the inputs x [N, K] f32 of `weight`. Throws Error when earlier inputs had another K.
  void observe(const Parameter& weight, const Tensor& x);
  /// Computes the factors. Nothing may be observed afterwards.
  void finish();

  /// Whether nothing was observed.
  bool empty() const { return inputs_.empty(); }
  /// The factors of the parameter of this name with `cols` columns; null if it had no inputs, or
  /// only zeros. Throws Error when its inputs had another width: the calibration is of another
  /// model.
  const GptqFactors* of(const std::string& parameter, int64_t cols) const;

 private:
  /// Shared by weights with the same input (q_proj, k_proj and v_proj).
  struct Inputs {
    int64_t cols = 0;
    Tensor products;  // [K, K]: x^T x; or [K]: its diagonal
    GptqFactors factors;
  };

  std::shared_ptr<Inputs> new_inputs(int64_t cols);

  int64_t bytes_left_ = int64_t{4} << 30;
  std::map<std::string, std::shared_ptr<Inputs>> inputs_;  // by the parameter's name
  std::shared_ptr<Inputs> last_;
  uint64_t last_id_ = 0;  // of the tensor that was observed last
};

}  // namespace heed::quantize
