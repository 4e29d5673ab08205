#pragma once

#include <memory>
#include <optional>

#include "heed/kernels/attention.h"
#include "heed/tensor/tensor.h"

namespace heed::nn {

/// The keys [Nk, G d] and values [Nk, G dv] that queries attend to. Latent attention has only keys.
struct KeysValues {
  Tensor keys, values;
};

using Spans = std::shared_ptr<const kernels::AttentionMetadata>;

/// What the tokens of one pass attend to in self-attention: themselves and the earlier tokens of
/// their sequences. The new tokens of a sequence are the last of its keys.
struct SelfSpans {
  Spans spans;
  /// The first sequences, with tokens of prompts; the others have generated tokens. Latent
  /// attention computes the two differently, so that a token's result does not depend on the rest
  /// of the pass.
  int64_t prompts = 0;
};

/// The keys and values of tokens that were computed before. A row never moves:
/// AttentionMetadata::kv_rows lists the rows of each sequence, so several sequences can share rows,
/// and the rows of a sequence that ended can be written again.
class KeyValueCache {
 public:
  enum class Mode { none, cache };
  /// With Mode::none (training, encoding) nothing is cached: extend() returns its argument.
  /// `stored` is the dtype of the cached rows, f32, bf16 or q8_0 (bf16 takes half the memory and
  /// bandwidth of f32, q8_0 27%); without it rows keep their dtype.
  explicit KeyValueCache(Mode mode = Mode::none, std::optional<DType> stored = {})
      : mode_(mode), stored_(stored) {}

  /// The first extend() will allocate this many rows, so that none are copied until there are more.
  void reserve(int64_t rows) { expected_ = rows; }
  /// After the first extend(): allocates memory for this many rows now, so that the next extend()
  /// need not.
  void make_room(int64_t rows);

  /// Writes the keys and values of a pass's new tokens, the last keys of each sequence of `spans`,
  /// to their rows: kv_rows[j] for key j, or j without kv_rows. Returns all rows; those that were
  /// never written are uninitialised.
  KeysValues extend(const KeysValues& fresh, const kernels::AttentionMetadata& spans);

  /// All rows. Undefined before the first extend().
  const KeysValues& all() const { return cached_; }
  /// The number of rows that memory is allocated for.
  int64_t capacity() const { return cached_.keys.defined() ? cached_.keys.rows() : 0; }

 private:
  void write(Tensor& cached, const Tensor& fresh, const kernels::AttentionMetadata& spans) const;
  void grow(Tensor& cached, int64_t needed, int64_t cols, DType dtype) const;

  Mode mode_;
  std::optional<DType> stored_;
  int64_t expected_ = 0;
  KeysValues cached_;
};

}  // namespace heed::nn
