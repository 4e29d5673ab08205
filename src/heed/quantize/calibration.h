#pragma once

#include <map>
#include <memory>
#include <string>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"
#include "heed/quantize/gptq.h"

namespace heed::quantize {

/// How much the columns of a model's weights count, measured on their inputs while the model read
/// some text.
class Calibration {
 public:
  Calibration() = default;
  /// Products of columns with each other are kept while they fit into `max_bytes`; of further
  /// weights only the squares of columns, which round worse.
  explicit Calibration(int64_t max_bytes) : bytes_left_(max_bytes) {}

  /// Observes the products of all passes that `context` is given to, as long as both live.
  void watch(Context& context);
  /// Takes into account the rows of x [N, K] f32, which are multiplied with `weight`. Throws Error
  /// when its rows had another width before.
  void observe(const Parameter& weight, const Tensor& x);
  /// Ends observing.
  void finish();

  /// Whether nothing was observed.
  bool empty() const { return inputs_.empty(); }
  /// The factors of the parameter of this name with K columns; null where it was never multiplied
  /// with anything but zeros. Throws Error when rows of another width were observed: the
  /// calibration is of another model.
  const GptqFactors* of(const std::string& parameter, int64_t cols) const;

 private:
  /// Weights that are multiplied with the same tensor (queries, keys and values) share theirs.
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
