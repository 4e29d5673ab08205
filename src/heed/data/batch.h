#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/examples.h"

namespace heed::data {

/// B sentence pairs laid end to end, without padding: sequence b of the source is
/// source[source_offsets[b], source_offsets[b + 1]), and so for the target.
struct Batch {
  std::vector<int32_t> source;          // [S]
  std::vector<int32_t> source_offsets;  // [B+1]
  std::vector<int32_t> decoder_input;   // [T], the target shifted right: start token first
  std::vector<int32_t> target;          // [T], what is to be predicted from decoder_input
  std::vector<int32_t> target_offsets;  // [B+1], of decoder_input and target alike
  std::vector<int64_t> examples;        // [B], which example each sequence is

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()); }
  int64_t sequences() const { return static_cast<int64_t>(examples.size()); }
};

/// The examples at `indices`, in this order. Throws Error on an index outside `examples` and when
/// the tokens of a side are too many for 32-bit offsets.
Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id);

}  // namespace heed::data
