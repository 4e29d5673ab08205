#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generate/shortlist.h"
#include "heed/model/transformer.h"

namespace heed::generate {

/// Computes the logits of the tokens that the shortlist of each request has. The rows of the head
/// that a list needs are gathered and packed once, which costs about as much as a product with a
/// few states. A product for all lists of a pass at once would compute most of a small vocabulary.
class ShortlistHead {
 public:
  /// The model must outlive this.
  explicit ShortlistHead(const model::Transformer& model) : model_(model) {}

  /// Rows of states whose logits are wanted, and of which tokens.
  struct Part {
    int64_t rows = 0;
    TokenList tokens = {};  // null: all
  };
  /// Prepares a pass with these parts. Returns whether logits() can be called: not if a part wants
  /// all tokens, nor where the head has no rows to choose from, on a device and in a part of a
  /// model.
  bool choose(std::span<const Part> parts);

  /// The logits [part.rows, part.tokens] of each part of states [N, D].
  std::vector<Tensor> logits(Context& context, const Tensor& states) const;

 private:
  /// A list of a request that has not ended.
  struct Chosen {
    TokenList tokens;
    model::HeadRows rows;
  };

  const model::Transformer& model_;
  std::vector<Chosen> chosen_;
  std::vector<Part> parts_;
};

}  // namespace heed::generate
