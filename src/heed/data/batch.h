#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/examples.h"

namespace heed::data {

/// B sequences laid end to end, without padding: what an encoder reads of sequence b is
/// source[source_offsets[b], source_offsets[b + 1]), and so for a decoder. A model without the one
/// or the other has nothing there.
struct Batch {
  std::vector<int32_t> source;          // [S]
  std::vector<int32_t> source_offsets;  // [B+1]
  std::vector<int32_t> decoder_input;   // [T], the target shifted right: start token first
  std::vector<int32_t> target_offsets;  // [B+1], of decoder_input
  std::vector<int32_t> target;          // [M], what is to be predicted ...
  std::vector<int32_t> rows;            // [M], ... from these of the last states; empty: from all
  std::vector<int64_t> examples;        // [B], which example each sequence is

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t decoder_tokens() const { return static_cast<int64_t>(decoder_input.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()); }
  int64_t sequences() const { return static_cast<int64_t>(examples.size()); }
};

/// Lays one more sequence behind `tokens`. Throws Error when they are too many for 32-bit offsets.
void append_sequence(std::span<const int32_t> sequence, std::vector<int32_t>& tokens,
                     std::vector<int32_t>& offsets);

/// The sentence pairs at `indices`, in this order. Throws Error on an index outside `examples` and
/// when the tokens of a side are too many for 32-bit offsets.
Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id);

}  // namespace heed::data
