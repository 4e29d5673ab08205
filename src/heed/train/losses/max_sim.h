#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/text_groups.h"
#include "heed/train/losses/compared_vectors.h"

namespace heed::train {

/// The scores of texts by late interaction (MaxSim: Khattab and Zaharia 2020): for each vector of a
/// query the largest dot product with a vector of the text, summed.
class MaxSim {
 public:
  /// The vectors are those of all texts of `groups`, laid end to end; `queries` and `texts` are
  /// numbers of texts.
  MaxSim(const data::TextGroups& groups, const Tensor& vectors, std::vector<int32_t> queries,
         std::vector<int32_t> texts);

  /// [queries, texts] f32.
  const Tensor& scores() const { return scores_; }
  /// Adds the gradients of the vectors from those of the scores. The first of equally large
  /// products gets a gradient.
  void add_gradients(const Tensor& slopes, ComparedVectors& vectors) const;

 private:
  struct Rows {
    int32_t begin, end;
  };
  Rows rows_of_text(int32_t text) const {
    return {groups_.vector_offsets[static_cast<size_t>(text)],
            groups_.vector_offsets[static_cast<size_t>(text) + 1]};
  }
  void compare(size_t query, const Tensor& vectors, const Tensor& candidates);

  const data::TextGroups& groups_;
  const std::vector<int32_t> queries_, texts_;
  std::vector<int32_t> offsets_{0};  // [texts+1], into the vectors of all texts
  Tensor scores_;
  /// Of each query [its vectors, texts]: the row of the vector with the largest product.
  std::vector<std::vector<int32_t>> nearest_;
};

}  // namespace heed::train
