#include "heed/generate/speculation/model_drafts.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "heed/base/duration.h"

namespace heed::generate {

ModelDrafts::ModelDrafts(const model::Transformer& model, const ModelDraftsOptions& options)
    : decoder_(model, options.dtype, options.cache),
      prefixes_(decoder_.rows(), options.max_cached_tokens),
      max_positions_(model.config().positions == model::PositionKind::none
                         ? std::numeric_limits<size_t>::max()
                         : static_cast<size_t>(model.config().max_positions)),
      vocab_size_(std::min(options.vocab_size, model.config().vocab_size)) {}

/// Drops what the model has read since the output became another one, and takes what it has not
/// read. The newest token is always read, for its logits.
ModelDrafts::Drafting ModelDrafts::begin(const Wanted& wanted) {
  const std::span<const int32_t> prompt = wanted.request->decoding.prompt();
  const std::span<const int32_t> output = wanted.request->decoding.sequences().front().tokens;
  const size_t total = prompt.size() + output.size();
  const auto token = [&](size_t i) {
    return i < prompt.size() ? prompt[i] : output[i - prompt.size()];
  };
  const auto [place, added] = sequences_.try_emplace(wanted.request->id);
  Sequence& sequence = place->second;
  if (added) {
    sequence.cache_rows = prefixes_.find(prompt, prompt.size() - 1, {});
    sequence.tokens.assign(prompt.begin(), prompt.begin() + std::ssize(sequence.cache_rows));
    sequence.accepted = sequence.tokens.size();
  }
  size_t& read = sequence.accepted;
  while (read < std::min(sequence.tokens.size(), total - 1) && sequence.tokens[read] == token(read))
    ++read;
  decoder_.rows().release(std::span(sequence.cache_rows).subspan(read));
  sequence.cache_rows.resize(read);
  sequence.tokens.resize(read);
  const size_t end = std::min(total, read + kMaxUnread);
  Drafting drafting{wanted, &sequence, {}, end == total};
  for (size_t i = read; i < end; ++i) drafting.unread.push_back(token(i));
  return drafting;
}

/// One pass over what is unread. The logits [M, V] of those that are complete.
Logits ModelDrafts::read(std::span<Drafting> all) {
  std::vector<CachedDecoder::DecodeInput> inputs;
  for (const Drafting& one : all)
    inputs.push_back({.tokens = one.unread,
                      .cache_rows = one.sequence->cache_rows,
                      .memory_rows = {},
                      .generated = true,
                      .logit_rows = one.complete ? 1 : 0});
  Tensor logits = decoder_.decode(inputs);
  LogitsNeeded needed;
  for (const Drafting& one : all) {
    needed = needed | one.wanted.request->decoding.logits_needed();
    std::vector<int32_t>& tokens = one.sequence->tokens;
    tokens.insert(tokens.end(), one.unread.begin(), one.unread.end());
  }
  return {std::move(logits), needed, vocab_size_};
}

/// Adds the most likely token to the draft. Returns whether another one can follow.
bool ModelDrafts::take(Drafting& one, Logits logits) const {
  std::vector<int32_t>& draft = one.wanted.request->draft;
  const int32_t token = one.wanted.request->decoding.draft_token(logits, draft.size());
  if (token < 0) return false;
  draft.push_back(token);
  one.unread.assign(1, token);
  return std::ssize(draft) < one.wanted.tokens && one.sequence->tokens.size() < max_positions_;
}

double ModelDrafts::draft(std::span<const Wanted> wanted) {
  using Clock = std::chrono::steady_clock;
  std::vector<Drafting> all;
  for (const Wanted& one : wanted) {
    DecodingState& decoding = one.request->decoding;
    if (decoding.prompt().size() + decoding.sequences().front().tokens.size() <= max_positions_)
      all.push_back(begin(one));
  }
  // After a pass in which all drafts were right, two tokens are unread.
  const bool reading =
      std::ranges::any_of(all, [](const Drafting& one) { return one.unread.size() > 2; });
  double read_seconds = 0;
  for (bool first = true; !all.empty(); first = false) {
    const Clock::time_point begin = Clock::now();
    const Logits logits = read(all);
    if (first && reading) read_seconds = seconds_between(begin, Clock::now());
    int64_t row = 0;
    std::erase_if(all, [&](Drafting& one) {
      if (!one.complete) return true;
      ++row;
      return !take(one, logits.slice(row - 1, row));
    });
  }
  return read_seconds;
}

void ModelDrafts::forget(uint64_t id) {
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) return;
  Sequence& sequence = found->second;
  const auto accepted = std::span(sequence.tokens).first(sequence.accepted);
  prefixes_.insert(accepted, std::span(sequence.cache_rows).first(accepted.size()), {});
  decoder_.rows().release(sequence.cache_rows);
  sequences_.erase(found);
}

}  // namespace heed::generate
