#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/labels.h"
#include "heed/data/text_groups.h"
#include "heed/data/word_alignment.h"

namespace heed::data {

/// A tokenised sentence pair, which make_batch() gives the decoder's start token.
struct Example {
  std::vector<int32_t> source, target;  // with the end-of-sequence token and those of languages
  std::vector<Link> links = {};  // between their tokens, in order of the target; empty: not aligned
  /// The decoder's first input, where it depends on the language; -1: that of all examples.
  int32_t start = -1;
};

/// B sequences, packed end to end without padding. The encoder input of sequence b is
/// source[source_offsets[b], source_offsets[b + 1]); the decoder input is packed the same way. The
/// fields of a stack that the model does not have are empty.
struct Batch {
  std::vector<int32_t> source;          // [S]
  std::vector<int32_t> source_offsets;  // [B+1]
  std::vector<int32_t> decoder_input;   // [T], the target shifted right after the start token
  std::vector<int32_t> target_offsets;  // [B+1], into decoder_input
  std::vector<int32_t> target;          // [M], the tokens to predict
  std::vector<int32_t> rows;      // [M], of the hidden states that predict them; empty: all rows
  std::vector<int64_t> examples;  // [B], index of each sequence's example

  /// For pairs of answers, of which sequence 2i is the chosen and 2i + 1 the rejected one.
  struct Preferences {
    std::vector<int32_t> offsets = {};  // [B+1], into rows and target; empty: there are no pairs
    float beta = 0;                     // of the loss (train/batch_loss.cc)
  };
  Preferences preferences = {};

  /// For guided alignment: the tokens of `source` that the decoder's row n, which predicts a token
  /// of the target, is to attend to: aligned[aligned_offsets[n], aligned_offsets[n + 1]).
  std::vector<int32_t> aligned_offsets = {};  // [T+1]; empty: no sentence is aligned
  std::vector<int32_t> aligned = {};

  /// For a model that gives labels, whose texts are `source`, also without an encoder.
  std::vector<int32_t> types = {};  // [S], the segments of pairs; empty: all 0
  Labels labels = {};
  /// For a model that makes vectors, likewise: the texts are `source`.
  TextGroups groups = {};

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t decoder_tokens() const { return static_cast<int64_t>(decoder_input.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()); }
  /// The number of terms whose mean is the loss: tokens to predict, pairs of answers, or texts and
  /// tokens with labels.
  int64_t loss_terms() const {
    if (labels.loss != LabelLoss::none) return labels.terms();
    if (groups.present()) return groups.count();
    return preferences.offsets.empty() ? target_tokens()
                                       : static_cast<int64_t>(preferences.offsets.size()) / 2;
  }
  int64_t sources() const { return static_cast<int64_t>(source_offsets.size()) - 1; }
  int64_t sequences() const { return static_cast<int64_t>(examples.size()); }
};

/// examples[index]. Throws Error when `index` is out of range.
template <typename Examples>
const auto& example_at(const Examples& examples, int64_t index) {
  require(index >= 0 && index < std::ssize(examples),
          "example {} is out of range, expected 0 to {}", index, std::ssize(examples) - 1);
  return examples[static_cast<size_t>(index)];
}

/// Appends a sequence to packed `tokens`. Throws Error when the total exceeds 32-bit offsets.
void append_sequence(std::span<const int32_t> sequence, std::vector<int32_t>& tokens,
                     std::vector<int32_t>& offsets);

/// Appends a sentence pair to a batch, whose offsets begin with 0. `start_id` is the decoder's
/// first input. Throws Error when the tokens of one side exceed 32-bit offsets, and on links that
/// are not in the order of the target or lead out of it.
void append_example(const Example& example, int32_t start_id, Batch& batch);

/// The sentence pairs at `indices`, in this order. Throws Error on an index out of range and as
/// append_example() does.
Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id);

}  // namespace heed::data
