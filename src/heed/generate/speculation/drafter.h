#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generate/decoding_state.h"

namespace heed::generate {

/// A request whose next tokens may be drafted: it has read its prompt and has one path.
struct DraftRequest {
  uint64_t id;
  std::span<const int32_t> source;  // the input of the encoder; empty for a decoder-only model
  DecodingState& decoding;
  std::vector<int32_t>& draft;  // receives at most decoding.max_draft() tokens
};

/// Proposes tokens that requests may generate next, for speculative decoding (Leviathan et al.
/// 2023; Chen et al. 2023): one pass of the model then computes the logits after all of them, and
/// accepts those that it would have chosen itself. So a draft changes how long an output takes,
/// never the output.
class Drafter {
 public:
  virtual ~Drafter() = default;

  /// Drafts tokens for a pass that computes `rows` rows without them, among which are the last
  /// tokens of the requests. The pass has no tokens of prompts.
  virtual void draft(std::span<DraftRequest> requests, int64_t rows) = 0;
  /// Called after the pass for which draft() was called. It accepted `accepted[i]` tokens of the
  /// draft of request i.
  virtual void verified(std::span<const int64_t> accepted) = 0;
  /// A request has ended.
  virtual void forget(uint64_t id) = 0;
};

}  // namespace heed::generate
