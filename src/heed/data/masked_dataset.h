#pragma once

#include "heed/base/random.h"
#include "heed/data/dataset.h"
#include "heed/data/windows.h"

namespace heed::data {

/// What a masked language model needs to know of its vocabulary.
struct Masking {
  int32_t mask_id = 0;
  std::vector<int32_t> prefix, suffix;  // tokens around every window: [CLS] and [SEP]
  std::vector<bool> special;            // [V], tokens that are never chosen and never drawn
  uint64_t seed = 1;
};

/// Windows of documents for an encoder alone, which predicts hidden tokens (Devlin et al. 2019,
/// 3.1, task 1): 15% of the tokens of a window, at least one, are chosen; of these 80% become the
/// mask, 10% a random token, and 10% stay. A choice is a pure function of seed, epoch, window and
/// position.
class MaskedDataset : public Dataset {
 public:
  static constexpr double kChosen = 0.15, kMasked = 0.8, kRandom = 0.1;

  /// Windows of nothing but special tokens are left out. Throws Error when all of the vocabulary
  /// is special.
  MaskedDataset(Documents documents, std::vector<Window> windows, Masking masking);

  int64_t count() const override { return static_cast<int64_t>(windows_.size()); }
  std::vector<Lengths> lengths() const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  void hide(std::span<const int32_t> tokens, int32_t first_row, const CounterRandom& random,
            Batch& batch) const;
  bool is_special(int32_t token) const { return masking_.special[static_cast<size_t>(token)]; }

  Documents documents_;
  std::vector<Window> windows_;
  Masking masking_;
  std::vector<int32_t> ordinary_;  // tokens that are not special
};

}  // namespace heed::data
