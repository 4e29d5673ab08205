#pragma once

#include <unordered_map>
#include <vector>

#include "heed/generate/cached_decoder.h"
#include "heed/generate/prefix_cache.h"
#include "heed/generate/speculation/draft_source.h"

namespace heed::generate {

struct ModelDraftsOptions {
  DType dtype = DType::f32;  // of the activations
  CacheOptions cache = {};
  int64_t vocab_size = 0;         // of the requests' model; others are not drafted
  int64_t max_cached_tokens = 0;  // as in SchedulerOptions
};

/// Drafts with a smaller model. It samples with the random numbers that the request will use, so
/// that a sampled token is accepted as often as the probabilities of both models allow.
class ModelDrafts : public DraftSource {
 public:
  /// A decoder-only model, which must outlive this, with the tokens of the requests' model. Throws
  /// Error as make_caches() does.
  ModelDrafts(const model::Transformer& model, const ModelDraftsOptions& options);

  int kind(const DraftRequest&) override { return 1; }
  /// A prompt that is longer than kMaxUnread is read in parts, one at each call; until then there
  /// is no draft.
  double draft(std::span<const Wanted> wanted) override;
  void forget(uint64_t id) override;

  static constexpr size_t kMaxUnread = 512;  // tokens
  /// The expected acceptance rates before any draft was verified.
  static constexpr Acceptances kAcceptances{0, 0.8};

 private:
  /// The tokens of a request that the model has read, drafts included.
  struct Sequence {
    std::vector<int32_t> tokens, cache_rows;
    size_t accepted = 0;  // the first tokens, which are those of the request
  };
  struct Drafting {
    Wanted wanted;
    Sequence* sequence;
    std::vector<int32_t> unread;
    bool complete;  // nothing is left after `unread`
  };
  Drafting begin(const Wanted& wanted);
  Logits read(std::span<Drafting> all);
  bool take(Drafting& one, Logits logits) const;

  CachedDecoder decoder_;
  PrefixCache prefixes_;
  size_t max_positions_;
  int64_t vocab_size_;
  std::unordered_map<uint64_t, Sequence> sequences_;
};

}  // namespace heed::generate
