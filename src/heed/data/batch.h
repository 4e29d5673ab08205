#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

/// A tokenised sentence pair. Both sides end with the end-of-sequence token; make_batch() adds the
/// decoder's start token.
struct Example {
  std::vector<int32_t> source, target;
};

/// B sequences, packed end to end without padding. The encoder input of sequence b is
/// source[source_offsets[b], source_offsets[b + 1]); the decoder input is packed the same way. The
/// fields of a stack that the model does not have are empty.
struct Batch {
  std::vector<int32_t> source;          // [S]
  std::vector<int32_t> source_offsets;  // [B+1]
  std::vector<int32_t> decoder_input;   // [T], the target shifted right after the start token
  std::vector<int32_t> target_offsets;  // [B+1], into decoder_input
  std::vector<int32_t> target;          // [M], tokens to predict ...
  std::vector<int32_t> rows;      // [M], ... from these rows of the last hidden states; empty: all
  std::vector<int64_t> examples;  // [B], index of each sequence's example

  /// Of answers in pairs: sequence 2i is the chosen one, 2i + 1 the rejected one, and that of the
  /// loss (train/preference_loss.h).
  struct Preferences {
    std::vector<int32_t> offsets = {};  // [B+1], of the sequences' predictions in rows; or empty
    float beta = 0;
  };
  Preferences preferences = {};

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t decoder_tokens() const { return static_cast<int64_t>(decoder_input.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()); }
  /// What the loss is the mean of: tokens to predict, or pairs of answers.
  int64_t loss_terms() const {
    return preferences.offsets.empty() ? target_tokens()
                                       : static_cast<int64_t>(preferences.offsets.size()) / 2;
  }
  int64_t sequences() const { return static_cast<int64_t>(examples.size()); }
};

/// Appends a sequence to packed `tokens`. Throws Error when the total exceeds 32-bit offsets.
void append_sequence(std::span<const int32_t> sequence, std::vector<int32_t>& tokens,
                     std::vector<int32_t>& offsets);

/// The sentence pairs at `indices`, in this order. Throws Error on an index out of range and when
/// the tokens of one side exceed 32-bit offsets.
Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id);

}  // namespace heed::data
