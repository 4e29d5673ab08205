#pragma once

#include <cstdint>
#include <vector>

namespace heed::data {

/// How the logits of labels are compared with what is known.
enum class LabelLoss {
  none,
  cross_entropy,         // one class for each row
  binary_cross_entropy,  // a number from 0 to 1 for each logit
  squared_error          // a number for each logit
};

/// What is known of the texts of a batch, or of some of their tokens.
struct Labels {
  LabelLoss loss = LabelLoss::none;
  int64_t count = 0;                  // of labels, C
  std::vector<int32_t> classes = {};  // [M], of cross_entropy
  std::vector<float> values = {};     // [M, C], of the others
  std::vector<int32_t> rows = {};     // [M], the tokens among all of the batch; empty: M texts
  std::vector<float> weights =
      {};  // [C], of the terms of each class, or of positive ones; empty: 1

  /// M.
  int64_t terms() const {
    return loss == LabelLoss::cross_entropy ? static_cast<int64_t>(classes.size())
                                            : static_cast<int64_t>(values.size()) / count;
  }
};

}  // namespace heed::data
