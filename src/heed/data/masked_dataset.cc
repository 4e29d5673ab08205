#include "heed/data/masked_dataset.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::data {
namespace {

/// The random numbers drawn for each position.
enum Draw : uint64_t { kSelection, kKind, kToken, kDraws };

}  // namespace

MaskedDataset::MaskedDataset(Documents documents, std::vector<Window> windows, Masking masking)
    : documents_(std::move(documents)), windows_(std::move(windows)), masking_(std::move(masking)) {
  for (size_t token = 0; token < masking_.special.size(); ++token)
    if (!masking_.special[token]) ordinary_.push_back(static_cast<int32_t>(token));
  require(!ordinary_.empty(),
          "all {} tokens of the vocabulary are special, which leaves none to mask",
          masking_.special.size());
  std::erase_if(windows_, [this](const Window& window) {
    const std::span<const int32_t> tokens = tokens_of(documents_, window);
    return std::all_of(tokens.begin(), tokens.end(), [this](int32_t t) { return is_special(t); });
  });
}

Lengths MaskedDataset::lengths_at(int64_t index) const {
  const auto affixes = static_cast<int64_t>(masking_.prefix.size() + masking_.suffix.size());
  return {.source = static_cast<int32_t>(example_at(windows_, index).length() + affixes)};
}

Batch MaskedDataset::batch(std::span<const int64_t> indices, int64_t epoch) const {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) {
    const std::span<const int32_t> tokens = tokens_of(documents_, example_at(windows_, index));
    std::vector<int32_t> sequence = masking_.prefix;
    sequence.insert(sequence.end(), tokens.begin(), tokens.end());
    sequence.insert(sequence.end(), masking_.suffix.begin(), masking_.suffix.end());
    const auto first = static_cast<int32_t>(batch.source.size() + masking_.prefix.size());
    append_sequence(sequence, batch.source, batch.source_offsets);
    const CounterRandom epoch_random(masking_.seed, static_cast<uint64_t>(epoch));
    mask(tokens, first, CounterRandom(epoch_random.bits(static_cast<uint64_t>(index))), batch);
  }
  return batch;
}

void MaskedDataset::mask(std::span<const int32_t> tokens, int32_t first_row,
                         const CounterRandom& random, Batch& batch) const {
  // The position with the smallest draw is always selected, so that each window has a target.
  double min_draw = 2.0;
  size_t min_position = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const double draw = random.uniform(i * kDraws + kSelection);
    if (is_special(tokens[i]) || draw >= min_draw) continue;
    min_draw = draw;
    min_position = i;
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool selected = random.uniform(i * kDraws + kSelection) < kSelected;
    if (is_special(tokens[i]) || !(selected || i == min_position)) continue;
    const int32_t row = first_row + static_cast<int32_t>(i);
    batch.rows.push_back(row);
    batch.target.push_back(tokens[i]);
    const double kind = random.uniform(i * kDraws + kKind);
    int32_t& input = batch.source[static_cast<size_t>(row)];
    if (kind < kMasked)
      input = masking_.mask_id;
    else if (kind < kMasked + kRandom)
      input = ordinary_[random.below(i * kDraws + kToken, ordinary_.size())];
  }
}

}  // namespace heed::data
