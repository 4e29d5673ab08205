#pragma once

#include <map>
#include <memory>
#include <string>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"
#include "heed/quantize/gptq.h"

namespace heed::quantize {

/// How much the columns of a model's weights count: learned from what they were multiplied with
/// while the model read some text.
class Importance {
 public:
  Importance() = default;
  /// Products of columns with each other are kept while they fit into so many bytes; of further
  /// weights only the squares of columns, which is worth less.
  explicit Importance(int64_t most_bytes) : bytes_left_(most_bytes) {}

  /// Observes the products of all passes that `context` is given to, as long as both live.
  void watch(Context& context);
  /// Takes the rows of x [N, K] f32 into account, with which `weight` is multiplied. Throws Error
  /// when its rows had another width before.
  void observe(const Parameter& weight, const Tensor& x);
  /// Ends observing.
  void finish();

  /// Whether nothing was observed.
  bool empty() const { return inputs_.empty(); }
  /// For a parameter of this name with so many columns; null where it was never multiplied with
  /// anything but zeros. Throws Error when rows of another width were observed: the importance is
  /// that of another model.
  const Feedback* of(const std::string& parameter, int64_t cols) const;

 private:
  /// Weights that are multiplied with the same tensor (queries, keys and values) share theirs.
  struct Inputs {
    int64_t cols = 0;
    Tensor products;  // [K, K]: x^T x; or [K]: its diagonal
    Feedback feedback;
  };

  std::shared_ptr<Inputs> new_inputs(int64_t cols);

  int64_t bytes_left_ = int64_t{4} << 30;
  std::map<std::string, std::shared_ptr<Inputs>> inputs_;  // by the parameter's name
  std::shared_ptr<Inputs> last_;
  uint64_t last_id_ = 0;  // of the tensor that was observed last
};

}  // namespace heed::quantize
