#pragma once

#include <cstdint>
#include <vector>

namespace heed::data {

/// How the logits of labels are compared with what is known.
enum class LabelLoss {
  none,
  cross_entropy,         // one class for each row
  binary_cross_entropy,  // a number from 0 to 1 for each logit
  squared_error,         // a number for each logit
  margin_mse             // a number for the difference of the first logit of an example and another
};

/// What is known of the texts of a batch, or of some of their tokens.
struct Labels {
  LabelLoss loss = LabelLoss::none;
  int64_t count = 0;                  // of labels, C
  std::vector<int32_t> classes = {};  // [M], of cross_entropy
  std::vector<float> values = {};     // [M, C], of the others; of margin_mse [M - E]
  std::vector<int32_t> rows = {};     // [M], the tokens among all of the batch; empty: M texts
  std::vector<int32_t> offsets = {};  // [E+1], of margin_mse: the texts of each example
  std::vector<float> weights =
      {};  // [C], of the terms of each class, or of positive ones; empty: 1

  /// M; of margin_mse E.
  int64_t terms() const {
    if (loss == LabelLoss::margin_mse) return static_cast<int64_t>(offsets.size()) - 1;
    return loss == LabelLoss::cross_entropy ? static_cast<int64_t>(classes.size())
                                            : static_cast<int64_t>(values.size()) / count;
  }
};

}  // namespace heed::data
