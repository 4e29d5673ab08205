#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/shortlist.h"
#include "heed/model/transformer.h"

namespace heed::generate {

/// Computes the logits of those tokens alone that some shortlist of a pass has. Rows of the head
/// are gathered and packed when the shortlists of the pass change, which costs about as much as a
/// product with a few states.
class ShortlistHead {
 public:
  /// The model must outlive this.
  explicit ShortlistHead(const model::Transformer& model) : model_(model) {}

  /// Prepares a pass whose rows of logits have these shortlists, some of which may be null. All
  /// logits are computed if one is, and where the head has no rows to choose from: on a device, and
  /// for a part of a model.
  void choose(std::span<const TokenList> lists);

  /// The logits [N, n] of states [N, D], of the tokens() or, if these are empty, of all.
  Tensor logits(Context& context, const Tensor& states) const;
  /// Of the columns of logits(), in ascending order; empty: all.
  std::span<const int32_t> tokens() const { return tokens_; }

 private:
  bool serves(std::span<const TokenList> lists) const;

  const model::Transformer& model_;
  std::vector<TokenList> lists_;  // whose tokens `rows_` has
  std::vector<int32_t> tokens_;
  std::optional<model::HeadRows> rows_;
};

}  // namespace heed::generate
