#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/cached_decoder.h"
#include "heed/generate/decoding_state.h"
#include "heed/generate/prefill_budget.h"
#include "heed/generate/prefix_cache.h"
#include "heed/generate/speculation/drafter.h"

namespace heed::generate {

struct SchedulerOptions {
  DType dtype = DType::f32;  // of the activations
  CacheOptions cache = {};
  /// Requests wait while the active ones may need more tokens in the kv caches than this; a request
  /// that needs more on its own runs alone. 0: no limit.
  int64_t max_active_tokens = 0;
  /// Active requests, at most. 0: no limit.
  int64_t max_active_requests = 0;
  /// Prompt tokens of one pass; the rest of a longer prompt follows in the next passes. 0: no
  /// limit.
  int64_t max_prefill_tokens = 0;
  /// Limits prompt tokens beside generated ones to about the time of the latter (PrefillBudget).
  bool balance_prefill = false;
  /// Tokens of ended requests of a decoder-only model whose keys and values are kept for requests
  /// that begin with the same tokens. 0: none.
  int64_t max_cached_tokens = 0;
  /// Makes decoding speculative; used by this scheduler alone. Null: it is not.
  std::shared_ptr<Drafter> drafter = {};
};

/// Decodes many requests step by step; each may join and leave at any step (continuous batching, Yu
/// et al. 2022). A request's result does not depend on the other requests, on the order in which
/// they came, on the options or on the number of threads: not in a single bit. Used by one thread
/// at a time.
class Scheduler {
 public:
  using Id = uint64_t;

  /// The model must outlive this. Throws Error as make_caches() does.
  Scheduler(const model::Transformer& model, const SchedulerOptions& options);
  ~Scheduler();

  struct Request {
    std::vector<int32_t> source;  // the input of the encoder; empty for a decoder-only model
    DecodingState* decoding;      // must live until the request has ended
    /// The number of tokens in the kv caches that the request may need, at most: that of the source
    /// plus, for each sequence, those of the prompt and the output.
    int64_t max_tokens = 0;
    /// Those that apply to the request; without a value, those that are attached to the model.
    std::optional<std::vector<ScaledAdapter>> adapters = {};
    /// Called by step() when the request joins, before its first tokens are computed.
    std::function<void()> on_start = {};
    bool cross_attention = false;  // whether its sequences have Sequence::cross_attention
    TokenList shortlist = {};      // the only tokens of its output; null: all
  };
  /// Adds a request, which joins a later step. Requests join in the order in which they were added.
  Id add(Request request);
  /// Ends a request; does nothing if it has ended.
  void cancel(Id id);

  /// A request that step() has continued.
  struct Progress {
    Id id;
    bool ended = false;
    std::exception_ptr error = {};  // why it ended: an Error that concerns this request alone
  };
  /// One pass of the model over the next tokens of all active requests. Returns the requests whose
  /// sequences have grown or ended, in the order in which they were added; valid until the next
  /// call. If the pass throws, for example for lack of memory or because it was interrupted, all
  /// requests stay as they were.
  std::span<const Progress> step();

  /// Whether no request is active or waiting.
  bool idle() const { return active_.empty() && waiting_.empty(); }
  /// Requests that have not joined yet.
  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
  /// Rows of the kv caches in use by requests and by kept prefixes.
  int64_t rows_in_use() const;
  /// Of these, the rows that only kept prefixes use. Counts them one by one.
  int64_t cached_rows() const { return prefixes_.own_rows(); }
  /// Tokens of prompts that were not computed again because their keys and values were kept.
  int64_t reused_tokens() const { return reused_tokens_; }
  void clear_cached_tokens() { prefixes_.clear(); }

 private:
  struct Active;
  bool fits(const Request& request) const;
  void admit();
  void encode_sources();
  void reuse_prefix(Active& request);
  void cache_prefix(const Active& request);
  int64_t max_prefill_tokens() const;
  void draft();
  void plan_pass();
  void run_pass();
  void plan_prefill(Active& request, int64_t room);
  void plan_decode(Active& request);
  LogitsNeeded needed_logits() const;
  void advance(const Logits* logits);
  void advance(Active& request, Logits own) const;
  void finish_step();
  void release_unused_rows(Active& request);
  void end(Active& request);

  const model::Transformer& model_;
  SchedulerOptions options_;
  CachedDecoder decoder_;
  PrefixCache prefixes_;
  std::deque<std::pair<Id, Request>> waiting_;
  std::vector<std::unique_ptr<Active>> active_;  // in the order in which they were added
  Id next_id_ = 1;
  int64_t active_tokens_ = 0;  // sum of max_tokens
  int64_t reused_tokens_ = 0;
  PrefillBudget prefill_budget_;
  // Of one step; members so that steps reuse the allocations.
  std::vector<CachedDecoder::DecodeInput> inputs_;
  std::vector<Active*> input_requests_;  // of each of inputs_
  std::vector<Active*> advancing_;       // those that get logits, in the order of their rows
  std::vector<int64_t> first_rows_;      // of the logits, for each of advancing_
  std::vector<bool> used_rows_;
  std::vector<Active*> drafted_;   // those for which the drafter was asked
  std::vector<int64_t> accepted_;  // for each of drafted_
  std::vector<Progress> progress_;
};

}  // namespace heed::generate
