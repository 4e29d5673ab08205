#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/error.h"
#include "heed/export.h"
#include "heed/generation.h"
#include "heed/glossary.h"
#include "heed/model.h"
#include "heed/search.h"

namespace heed {

/// One thing to generate in a Session.
struct Request {
  /// A text or token ids: continued by a decoder-only model, read by the encoder of an
  /// encoder-decoder.
  Prompt prompt = {};
  GenerateOptions options = {};  // of its outputs
  /// If set, outputs are found by greedy or beam search, which ignores sampling, stop strings and
  /// top_log_probabilities. A translator always searches; without this, as translate() does.
  std::optional<SearchOptions> search = {};
  /// The languages of a multilingual translator, as in TranslateOptions.
  std::string source_language = {}, target_language = {};
  /// Computes Candidate::alignment, as in TranslateOptions; for a translator alone.
  bool alignments = false;
  /// What a translation must contain, as Model::required_texts() tells it; for a translator with
  /// more than one beam alone.
  std::vector<RequiredText> required_texts = {};
  /// Computes Candidate::confidence and words, as in TranslateOptions; for a translator alone.
  bool confidence = false;
  /// The names of the adapters (LoadOptions::adapters) that apply, together, to this request; none
  /// of them if it is empty, all if it is not set.
  std::optional<std::vector<std::string>> adapters = {};
  /// Selects the random numbers, with GenerateOptions::seed: the output is that of prompt `number`
  /// of Model::generate_batch().
  int64_t number = 1;
  /// Called by step() when the request stops waiting, before its first tokens are computed. Must
  /// not throw or use the session.
  std::function<void()> on_start = {};
};

/// Names a request of a session; never used twice there.
using RequestId = uint64_t;

/// The part that a step has added to the output of a request. Valid during the call.
struct Delta {
  RequestId request = 0;  // that of Session::add()
  /// Whole code points, none of which can still become part of a stop string.
  std::string_view text = {};
  std::span<const int32_t> tokens = {};  // the new token ids
  /// With GenerateOptions::top_log_probabilities, for each of `tokens`.
  std::span<const TokenLogProbability> chosen = {};
  std::span<const std::vector<TokenLogProbability>> best = {};  // most probable first

  // The last delta of a request has one of these; a search has no other deltas.
  const Generation* generation = nullptr;              // the whole output
  const std::vector<Candidate>* candidates = nullptr;  // of a search, best first
  const Error* error = nullptr;                        // why this request failed
};

/// The limits of a session.
struct SessionOptions {
  /// Requests wait, in the order in which they were added, while the running ones may need more
  /// tokens than this, prompts and outputs of all beams. A request that needs more runs alone. It
  /// bounds the memory of the kv cache.
  int64_t max_active_tokens = 16384;
  /// Requests that run at the same time, at most; 0: no limit. More than fill the processor only
  /// make each other slower.
  int64_t max_active_requests = 0;
  /// Prompt tokens computed in one step; the rest of a longer prompt follows in the next steps, so
  /// that it does not stall running requests. Sources of an encoder are computed whole.
  int64_t max_prefill_tokens = 512;
  /// While requests generate, prompts get less time of a step than they do: a long prompt does not
  /// make their tokens more than twice as slow. Otherwise prompts come first.
  bool balance_prefill = false;
  /// Tokens of ended requests of a decoder-only model whose keys and values are kept, so that the
  /// next turn of a conversation computes only its new tokens; 0: none.
  int64_t max_cached_tokens = 8192;
  /// Tokens of the kv cache whose memory is reserved by the first step; the system provides it when
  /// it is used. A cache that needs more is copied, which takes a moment.
  int64_t reserved_tokens = 0;
  /// Asked before each layer of a pass. If it returns true, step() ends early and leaves all
  /// requests as they were: a way to cancel a request while its prompt is computed. Empty: never.
  /// (An InterruptScope does the same, but makes step() throw Interrupted.)
  std::function<bool()> interrupted = {};
};

/// Generates for many requests at a time, step by step (continuous batching): requests join and
/// leave at any step, and each step computes the next tokens of all.
///
/// The output of a request does not depend on the other requests, on the order in which they came,
/// on the options of the session or on the number of threads: not in a single bit.
///
///   heed::Session session(model);
///   session.add({.prompt = "Once upon a time"}, [](const heed::Delta& delta) {
///     std::cout << delta.text << std::flush;
///     return true;
///   });
///   while (session.step()) {
///   }
///
/// A session may be used by one thread at a time; several sessions may share a model. Every
/// function throws Error on options out of range and on a closed or moved-from session.
class HEED_EXPORT Session {
 public:
  /// Shares the weights of the model. Throws Error when it has no decoder that predicts tokens.
  explicit Session(const Model& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Called by step() with each new part of an output, and a last time when the request has ended.
  /// Returning false cancels the request. It may call add() and cancel(), but not step() or
  /// close().
  using OnDelta = std::function<bool(const Delta& delta)>;

  /// Adds a request, which joins a later step. Throws Error, and adds nothing, when the model
  /// cannot do what it asks, on an unknown adapter, invalid UTF-8, tokens outside the vocabulary,
  /// an empty prompt, and a prompt longer than the model's context.
  RequestId add(const Request& request, OnDelta on_delta);
  /// Ends a request, whose function is not called again. Does nothing if it has ended.
  void cancel(RequestId request);

  /// Computes the next tokens of all running requests and calls their functions. Returns whether
  /// requests are left. An exception of a function cancels its request and reaches the caller after
  /// the functions of all others were called. On any other exception all requests stay as they
  /// were.
  bool step();

  /// Cancels all requests. Afterwards every function throws but is_open() and the destructor.
  void close();
  /// Whether it can be used: it was neither closed nor moved from.
  bool is_open() const { return state_ != nullptr; }

  /// Requests that run or wait.
  int64_t requests() const;
  /// The requests that wait.
  int64_t waiting_requests() const;
  /// Whether a request runs or waits.
  bool has(RequestId request) const;
  /// Rows of the kv cache in use by running requests and kept prefixes.
  int64_t rows_in_use() const;
  /// Of these, the rows that only kept prefixes use: they are given up for running requests.
  int64_t cached_rows() const;
  /// Prompt tokens that were not computed again, because their keys and values were kept.
  int64_t reused_tokens() const;
  /// Forgets the keys and values of ended requests.
  void clear_cached_tokens();

 private:
  struct State;
  State& state() const;

  std::unique_ptr<State> state_;
};

}  // namespace heed
