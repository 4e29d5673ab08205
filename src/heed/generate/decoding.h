#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::generate {

/// An unfinished output: one hypothesis of a beam, or the only output of a request.
struct Path {
  std::vector<int32_t> tokens;      // output so far
  std::vector<int32_t> cache_rows;  // the rows of the kv cache for each token read
  double log_probability = 0;       // used by beam search
};

/// How one request is decoded: the paths that the decoder reads, and the choice of the next tokens.
/// The Scheduler feeds the prompt to the first path, then the last token of each path.
class Decoding {
 public:
  virtual ~Decoding() = default;

  /// The first input of the decoder; not empty.
  virtual std::span<const int32_t> prompt() const = 0;
  /// One path until the prompt is read. Once decoding has ended, the only path if there was never
  /// more than one, or none.
  virtual std::span<Path> paths() = 0;
  virtual bool ended() const = 0;
  /// Continues the paths with logits [paths, V], which it may overwrite. Every row has a finite
  /// maximum and no NaN. Called from any thread, but not for one Decoding from two at a time.
  virtual void advance(Tensor& logits) = 0;
};

}  // namespace heed::generate
