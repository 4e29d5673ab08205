#pragma once

#include "heed/base/random.h"
#include "heed/data/dataset.h"
#include "heed/data/windows.h"

namespace heed::data {

/// The vocabulary and the seed of masked language modelling.
struct Masking {
  int32_t mask_id = 0;
  std::vector<int32_t> prefix, suffix;  // added around every window: [CLS] and [SEP]
  std::vector<bool> special;  // [V], tokens that are never selected nor used as replacement
  uint64_t seed = 1;
};

/// Windows of documents for masked language modelling (Devlin et al. 2019, section 3.1, task 1):
/// 15% of the tokens of a window, at least one, are selected as targets; 80% of these are replaced
/// by the mask, 10% by a random token, and 10% are left unchanged. The selection is a pure function
/// of seed, epoch, window and position.
class MaskedDataset : public Dataset {
 public:
  static constexpr double kSelected = 0.15, kMasked = 0.8, kRandom = 0.1;

  /// Windows with only special tokens are dropped. Throws Error when all tokens of the vocabulary
  /// are special.
  MaskedDataset(Documents documents, std::vector<Window> windows, Masking masking);

  int64_t count() const override { return static_cast<int64_t>(windows_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  void mask(std::span<const int32_t> tokens, int32_t first_row, const CounterRandom& random,
            Batch& batch) const;
  bool is_special(int32_t token) const { return masking_.special[static_cast<size_t>(token)]; }

  Documents documents_;
  std::vector<Window> windows_;
  Masking masking_;
  std::vector<int32_t> ordinary_;  // tokens that are not special
};

}  // namespace heed::data
