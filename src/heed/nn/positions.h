#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/kernels/rotary.h"
#include "heed/tensor/tensor.h"

namespace heed::nn {

/// PE(p, 2i) = sin(p / 10000^(2i / D)), PE(p, 2i + 1) = cos(the same) (Vaswani et al. 2017, 3.5).
/// Sine and cosine of one frequency are neighbours (columns 2i and 2i + 1), as in the paper, or the
/// sines fill the first half of the columns and the cosines the second, as in Marian's checkpoints.
///
/// Rows are computed when they are first needed: a model may allow far longer sequences than it is
/// given.
class Sinusoids {
 public:
  struct Settings {
    int64_t max_positions = 0;  // P
    int64_t d_model = 0;        // D
    kernels::PairLayout layout = kernels::PairLayout::interleaved;
    bool fairseq = false;   // 10000^(i / (D/2 - 1)) for the wavelengths; D is even
    int64_t zero_row = -1;  // of padding tokens; -1: none
  };
  explicit Sinusoids(const Settings& settings) : settings_(settings) {}

  /// A table [R, D] f32 of the positions from 0 on, with R >= min(count, P) and R <= P. Any number
  /// of threads may call this at once.
  Tensor rows(int64_t count) const;
  /// Replaces the first rows [R, D] f32, before any is used.
  void set(const Tensor& rows) {
    const MutexLock lock(mutex_);
    table_ = rows;
  }

 private:
  void grow(int64_t rows) const HEED_REQUIRES(mutex_);

  Settings settings_;
  mutable Mutex mutex_;
  mutable Tensor table_ HEED_GUARDED_BY(mutex_);         // on the host
  mutable Tensor device_table_ HEED_GUARDED_BY(mutex_);  // its copy on the device that asked last
};

/// 0, 1, 2, ... within each of the sequences `offsets` [B+1]: [N].
std::vector<int32_t> positions_within(const std::vector<int32_t>& offsets);

}  // namespace heed::nn
