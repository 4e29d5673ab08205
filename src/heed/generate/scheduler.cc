#include "heed/generate/scheduler.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/logits.h"

namespace heed::generate {
namespace {

/// The tokens of a sequence that were added since the last pass, once the prompt is read.
std::span<const int32_t> unread_tokens(const DecodingState& decoding, const Sequence& sequence) {
  return std::span(sequence.tokens).subspan(sequence.cache_rows.size() - decoding.prompt().size());
}

}  // namespace

/// A request that has been admitted.
struct Scheduler::Active {
  Id id;
  DecodingState* decoding;
  int64_t max_tokens;
  std::vector<int32_t> source;
  std::vector<ScaledAdapter> adapters;
  TokenList shortlist;
  std::vector<int32_t> memory_rows = {};
  /// All rows of the decoder's caches that the request holds: those of its sequences.
  std::vector<int32_t> rows = {};
  std::vector<int32_t> draft = {};   // for the current pass
  std::vector<int32_t> unread = {};  // the tokens added last, and the draft
  int64_t accepted = 0;              // tokens of the draft
  std::exception_ptr error = {};
  bool ended = false;

  size_t tokens_read() const { return decoding->sequences().front().cache_rows.size(); }
  bool reads_prompt() const { return tokens_read() < decoding->prompt().size(); }
};

Scheduler::Scheduler(const model::Transformer& model, const SchedulerOptions& options)
    : model_(model),
      options_(options),
      decoder_(model, options.dtype, options.cache),
      prefixes_(decoder_.rows(), model.has_encoder() ? 0 : options.max_cached_tokens) {}

Scheduler::~Scheduler() = default;

Scheduler::Id Scheduler::add(Request request) {
  require(request.source.empty() != model_.has_encoder(), "a request has {} source, the model {}",
          request.source.empty() ? "no" : "a",
          model_.has_encoder() ? "is an encoder-decoder" : "has no encoder");
  if (!request.adapters)
    request.adapters.emplace(model_.attached().begin(), model_.attached().end());
  waiting_.emplace_back(next_id_, std::move(request));
  return next_id_++;
}

void Scheduler::cancel(Id id) {
  std::erase_if(waiting_, [&](const auto& one) { return one.first == id; });
  for (const std::unique_ptr<Active>& request : active_)
    if (request->id == id) end(*request);
  std::erase_if(active_, [](const auto& one) { return one->ended; });
}

int64_t Scheduler::rows_in_use() const {
  return decoder_.rows().in_use() + decoder_.memory_rows().in_use();
}

/// Whether a request can be admitted beside the active ones.
bool Scheduler::fits(const Request& request) const {
  if (options_.max_active_requests > 0 && std::ssize(active_) >= options_.max_active_requests)
    return false;
  return active_.empty() || options_.max_active_tokens == 0 ||
         active_tokens_ + request.max_tokens <= options_.max_active_tokens;
}

/// Admits waiting requests.
void Scheduler::admit() {
  while (!waiting_.empty() && fits(waiting_.front().second)) {
    auto& [id, request] = waiting_.front();
    active_.push_back(std::make_unique<Active>(
        Active{id, request.decoding, request.max_tokens, std::move(request.source),
               std::move(*request.adapters), std::move(request.shortlist)}));
    if (request.cross_attention)
      request.decoding->sequences().front().cross_attention = &decoder_.cross_attention().by_row();
    active_tokens_ += request.max_tokens;
    if (request.on_start) request.on_start();
    waiting_.pop_front();
    reuse_prefix(*active_.back());
  }
  if (model_.has_encoder()) encode_sources();
}

void Scheduler::encode_sources() {
  std::vector<CachedDecoder::EncodeInput> sources;
  for (const std::unique_ptr<Active>& request : active_)
    if (request->memory_rows.empty())
      sources.push_back({request->source, request->memory_rows, request->adapters});
  if (!sources.empty()) decoder_.encode(sources);
}

/// The last token of a prompt is always computed, for its logits.
void Scheduler::reuse_prefix(Active& request) {
  const std::span<const int32_t> prompt = request.decoding->prompt();
  request.rows = prefixes_.find(prompt, prompt.size() - 1, request.adapters);
  reused_tokens_ += static_cast<int64_t>(request.rows.size());
  request.decoding->sequences().front().cache_rows = request.rows;
}

/// Keeps the tokens of an ending request for others; with latent attention only those of the
/// prompt, since it computes generated tokens in another way, with other bits.
void Scheduler::cache_prefix(const Active& request) {
  const std::span<const int32_t> prompt = request.decoding->prompt();
  std::vector<int32_t> tokens(prompt.begin(), prompt.end());
  const std::span<const Sequence> sequences = request.decoding->sequences();
  if (sequences.size() == 1 && !model_.config().latent.present())
    tokens.insert(tokens.end(), sequences.front().tokens.begin(), sequences.front().tokens.end());
  // The last token was not read, and the prompt only in part if the request was cancelled.
  tokens.resize(std::min(tokens.size(), request.rows.size()));
  prefixes_.insert(tokens, std::span(request.rows).first(tokens.size()), request.adapters);
}

/// Adds the next tokens of a prompt to the pass, at most `room`.
void Scheduler::plan_prefill(Active& request, int64_t room) {
  Sequence& sequence = request.decoding->sequences().front();
  const std::span<const int32_t> unread =
      request.decoding->prompt().subspan(sequence.cache_rows.size());
  const size_t count = std::min(unread.size(), static_cast<size_t>(room));
  inputs_.push_back({.tokens = unread.first(count),
                     .cache_rows = sequence.cache_rows,
                     .memory_rows = request.memory_rows,
                     .generated = false,
                     .logit_rows = count == unread.size() ? 1 : 0,
                     .adapters = request.adapters,
                     .cross_attention = sequence.cross_attention != nullptr,
                     .shortlist = request.shortlist});
  input_requests_.push_back(&request);
}

/// Adds the tokens added to each sequence to the pass, and the draft.
void Scheduler::plan_decode(Active& request) {
  for (Sequence& sequence : request.decoding->sequences()) {
    std::span<const int32_t> tokens = unread_tokens(*request.decoding, sequence);
    if (!request.draft.empty()) {
      request.unread.assign(tokens.begin(), tokens.end());
      request.unread.insert(request.unread.end(), request.draft.begin(), request.draft.end());
      tokens = request.unread;
    }
    inputs_.push_back({.tokens = tokens,
                       .cache_rows = sequence.cache_rows,
                       .memory_rows = request.memory_rows,
                       .generated = true,
                       .logit_rows = 1 + std::ssize(request.draft),
                       .adapters = request.adapters,
                       .cross_attention = sequence.cross_attention != nullptr,
                       .shortlist = request.shortlist});
    input_requests_.push_back(&request);
  }
}

/// The most prompt tokens of the next pass.
int64_t Scheduler::max_prefill_tokens() const {
  const int64_t limit = options_.max_prefill_tokens;
  const int64_t room = limit > 0 ? limit : std::numeric_limits<int64_t>::max();
  const bool generating =
      std::ranges::any_of(active_, [](const auto& request) { return !request->reads_prompt(); });
  if (!options_.balance_prefill || !generating) return room;
  return std::min(room, prefill_budget_.tokens());
}

/// Drafts the next tokens of requests, unless the pass has prompts, which keep the processor busy.
void Scheduler::draft() {
  drafted_.clear();
  for (const std::unique_ptr<Active>& request : active_) {
    request->draft.clear();
    request->accepted = 0;
  }
  if (!options_.drafter ||
      std::ranges::any_of(active_, [](const auto& request) { return request->reads_prompt(); }))
    return;
  std::vector<DraftRequest> requests;
  int64_t rows = 0;
  for (const std::unique_ptr<Active>& request : active_) {
    for (const Sequence& sequence : request->decoding->sequences())
      rows += std::ssize(unread_tokens(*request->decoding, sequence));
    if (request->decoding->max_draft() == 0) continue;
    requests.push_back({request->id, request->source, *request->decoding, request->draft});
    drafted_.push_back(request.get());
  }
  if (!requests.empty()) options_.drafter->draft(requests, rows);
  for (Active* request : drafted_) request->decoding->shorten_draft(request->draft);
}

void Scheduler::plan_pass() {
  inputs_.clear();
  input_requests_.clear();
  int64_t room = max_prefill_tokens();
  for (const std::unique_ptr<Active>& request : active_) {
    if (!request->reads_prompt() || room == 0) continue;
    plan_prefill(*request, room);
    room -= static_cast<int64_t>(inputs_.back().tokens.size());
  }
  for (const std::unique_ptr<Active>& request : active_)
    if (!request->reads_prompt()) plan_decode(*request);
  advancing_.clear();
  first_rows_.assign(1, 0);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].logit_rows == 0) continue;
    if (advancing_.empty() || advancing_.back() != input_requests_[i]) {
      advancing_.push_back(input_requests_[i]);
      first_rows_.push_back(first_rows_.back());
    }
    first_rows_.back() += inputs_[i].logit_rows;
  }
}

std::span<const Scheduler::Progress> Scheduler::step() {
  progress_.clear();
  run_pass();
  return progress_;
}

void Scheduler::run_pass() {
  admit();
  if (active_.empty()) return;
  draft();
  plan_pass();
  const PrefillBudget::Timer timer(prefill_budget_, inputs_);
  Tensor logits = decoder_.decode(inputs_);  // [M, V]
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::vector<int32_t>& rows = inputs_[i].cache_rows;
    input_requests_[i]->rows.insert(
        input_requests_[i]->rows.end(),
        rows.end() - static_cast<std::ptrdiff_t>(inputs_[i].tokens.size()), rows.end());
  }
  std::optional<Logits> of_all;
  if (logits.defined())
    of_all.emplace(std::move(logits), needed_logits(), model_.config().vocab_size);
  if (!advancing_.empty()) advance(of_all ? &*of_all : nullptr);
  if (!drafted_.empty()) {
    accepted_.clear();
    for (const Active* request : drafted_) accepted_.push_back(request->accepted);
    options_.drafter->verified(accepted_);
  }
  finish_step();
}

/// Where a shortlist says which logits those are, the largest of all are of no use.
LogitsNeeded Scheduler::needed_logits() const {
  LogitsNeeded needed;
  for (const Active* request : advancing_) {
    if (request->shortlist) return {};
    needed = needed | request->decoding->logits_needed();
  }
  return needed;
}

/// Without `logits` each request has those of its shortlist.
void Scheduler::advance(const Logits* logits) {
  parallel_for(static_cast<int64_t>(advancing_.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      try {
        const int64_t first = first_rows_[i], last = first_rows_[i + 1];
        const TokenList& shortlist = advancing_[i]->shortlist;
        if (!logits)
          advance(*advancing_[i], {decoder_.listed_logits(first, last), shortlist});
        else if (shortlist)
          advance(*advancing_[i], logits->slice(first, last).only(shortlist));
        else
          advance(*advancing_[i], logits->slice(first, last));
      } catch (const Error&) {
        advancing_[i]->error = std::current_exception();
      }
    }
  });
}

void Scheduler::advance(Active& request, Logits own) const {
  own.slice(0, own.rows() - std::ssize(request.draft)).check();
  if (request.draft.empty())
    request.decoding->advance(own);
  else
    request.accepted = request.decoding->advance_drafted(own, request.draft);
}

/// Records the progress of the requests of the pass and ends those that are finished.
void Scheduler::finish_step() {
  for (Active* request : advancing_) {
    const bool ended = request->error || request->decoding->ended();
    progress_.push_back({request->id, ended, request->error});
    if (!ended || !request->draft.empty()) release_unused_rows(*request);
    if (ended) end(*request);
  }
  std::erase_if(active_, [](const auto& request) { return request->ended; });
  std::ranges::sort(progress_, {}, &Progress::id);
}

/// Releases the rows of sequences that a beam has dropped.
void Scheduler::release_unused_rows(Active& request) {
  const std::span<const Sequence> sequences = request.decoding->sequences();
  if (sequences.size() == 1 && sequences.front().cache_rows.size() == request.rows.size()) return;
  const size_t all = 1 + static_cast<size_t>(*std::ranges::max_element(request.rows));
  if (used_rows_.size() < all) used_rows_.resize(all);
  for (const Sequence& sequence : sequences)
    for (const int32_t row : sequence.cache_rows) used_rows_[static_cast<size_t>(row)] = true;
  const auto unused =
      std::stable_partition(request.rows.begin(), request.rows.end(),
                            [&](int32_t row) { return used_rows_[static_cast<size_t>(row)]; });
  decoder_.rows().release({unused, request.rows.end()});
  request.rows.erase(unused, request.rows.end());
  for (const int32_t row : request.rows) used_rows_[static_cast<size_t>(row)] = false;
}

void Scheduler::end(Active& request) {
  if (!request.error) cache_prefix(request);
  if (options_.drafter) options_.drafter->forget(request.id);
  decoder_.rows().release(request.rows);
  decoder_.memory_rows().release(request.memory_rows);
  active_tokens_ -= request.max_tokens;
  request.ended = true;
}

}  // namespace heed::generate
