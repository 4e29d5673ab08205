#include "heed/data/batch.h"

#include <algorithm>
#include <limits>

namespace heed::data {

void append_sequence(std::span<const int32_t> sequence, std::vector<int32_t>& tokens,
                     std::vector<int32_t>& offsets) {
  constexpr auto kMaxTokens = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  require(sequence.size() <= kMaxTokens - tokens.size(), "a batch has more than {} tokens",
          kMaxTokens);
  tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  offsets.push_back(static_cast<int32_t>(tokens.size()));
}

namespace {

/// Adds the links of a pair whose tokens were appended last.
void append_links(const Example& example, Batch& batch) {
  const int32_t first = batch.source_offsets.end()[-2];
  auto link = example.links.begin();
  for (int32_t j = 0; j < std::ssize(example.target); ++j) {
    for (; link != example.links.end() && link->target == j; ++link) {
      require(link->source >= 0 && link->source < std::ssize(example.source),
              "a link leads to token {} of a source of {}", link->source, example.source.size());
      batch.aligned.push_back(first + link->source);
    }
    batch.aligned_offsets.push_back(static_cast<int32_t>(batch.aligned.size()));
  }
  require(link == example.links.end(), "the links of a pair are not in the order of its target");
}

}  // namespace

Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id) {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  const bool links = std::ranges::any_of(
      indices, [&](int64_t index) { return !example_at(examples, index).links.empty(); });
  if (links) batch.aligned_offsets.push_back(0);
  for (const int64_t index : indices) {
    const Example& example = example_at(examples, index);
    append_sequence(example.source, batch.source, batch.source_offsets);
    append_sequence(example.target, batch.target, batch.target_offsets);
    if (links) append_links(example, batch);
    if (example.target.empty()) continue;
    batch.decoder_input.push_back(start_id);
    batch.decoder_input.insert(batch.decoder_input.end(), example.target.begin(),
                               example.target.end() - 1);
  }
  return batch;
}

}  // namespace heed::data
