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

/// Adds the links of a pair whose tokens were appended last. The first linked pair of a batch also
/// gives the rows before it theirs, which are none.
void append_links(const Example& example, Batch& batch) {
  if (example.links.empty() && batch.aligned_offsets.empty()) return;
  batch.aligned_offsets.resize(static_cast<size_t>(batch.target_offsets.end()[-2]) + 1);
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

void append_example(const Example& example, int32_t start_id, Batch& batch) {
  append_sequence(example.source, batch.source, batch.source_offsets);
  append_sequence(example.target, batch.target, batch.target_offsets);
  append_links(example, batch);
  if (example.target.empty()) return;
  batch.decoder_input.push_back(example.start >= 0 ? example.start : start_id);
  batch.decoder_input.insert(batch.decoder_input.end(), example.target.begin(),
                             example.target.end() - 1);
}

Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id) {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) append_example(example_at(examples, index), start_id, batch);
  return batch;
}

}  // namespace heed::data
