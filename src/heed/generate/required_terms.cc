#include "heed/generate/required_terms.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

void add_once(std::vector<int32_t>& tokens, int32_t token) {
  if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
}

void check_required(const RequiredTerm& term, int64_t vocab_size, TokenRange text) {
  const std::string name = quoted(term.name);
  require_input(!term.alternatives.empty(), "the required term {} has no alternative", name);
  require_input(term.count >= 1, "the required term {} has the count {}, expected at least 1", name,
                term.count);
  for (const std::vector<int32_t>& tokens : term.alternatives) {
    require_input(!tokens.empty(), "the required term {} has an alternative without tokens", name);
    for (const int32_t token : tokens)
      require_input(token >= 0 && token < vocab_size,
                    "the required term {} has the token {}, the vocabulary has {}", name, token,
                    vocab_size);
  }
  for (const TokenRange& place : term.places)
    require_input(place.begin >= text.begin && place.begin < place.end && place.end <= text.end,
                  "the required term {} has a place outside of the source", name);
}

/// Of the largest attention to a token, what a place has at least where its term begins.
constexpr float kShare = 0.5f;

/// The tokens of a text without end of sequence.
std::vector<int32_t> encode_without_end(const text::TranslationTokenizer& tokenizer,
                                        std::string_view text) {
  std::vector<int32_t> tokens = tokenizer.encode_target(text);
  while (!tokens.empty() && tokenizer.is_special(tokens.back())) tokens.pop_back();
  return tokens;
}

/// The tokens of `text` behind `before`; none if that changes those of `before`.
std::vector<int32_t> encode_behind(const text::TranslationTokenizer& tokenizer,
                                   const std::string& before, const std::string& text) {
  const std::vector<int32_t> first = encode_without_end(tokenizer, before);
  const std::vector<int32_t> both = encode_without_end(tokenizer, before + text);
  if (both.size() <= first.size() || !std::equal(first.begin(), first.end(), both.begin()))
    return {};
  return {both.begin() + std::ssize(first), both.end()};
}

bool has_unknown(const text::TranslationTokenizer& tokenizer, std::span<const int32_t> tokens) {
  return std::ranges::any_of(tokens,
                             [&](int32_t token) { return tokenizer.piece(token) == "<unk>"; });
}

/// Why `tokens` do not spell `text`, from which they were made; empty if they do.
std::string spelling_problem(const text::TranslationTokenizer& tokenizer, const std::string& text,
                             std::span<const int32_t> tokens) {
  if (tokens.empty()) return "is empty";
  if (has_unknown(tokenizer, tokens)) return "has characters that the vocabulary lacks";
  const std::string spelt = tokenizer.decode_target(tokens);
  if (spelt == text) return {};
  return fmt::format("cannot be written, the vocabulary makes it {}", quoted(spelt));
}

}  // namespace

bool can_spell(const text::TranslationTokenizer& tokenizer, const std::string& text) {
  return spelling_problem(tokenizer, text, encode_without_end(tokenizer, text)).empty();
}

RequiredTerm required_term(const text::TranslationTokenizer& tokenizer,
                           std::span<const std::string> alternatives, int64_t count) {
  RequiredTerm term{
      .name = alternatives.empty() ? "" : alternatives.front(), .alternatives = {}, .count = count};
  for (const std::string& text : alternatives) {
    blame_input([&] { text::require_utf8(text, "a required term"); });
    std::vector<int32_t> tokens = encode_without_end(tokenizer, text);
    const std::string problem = spelling_problem(tokenizer, text, tokens);
    require_input(problem.empty(), "the required term {} {}", quoted(text), problem);
    term.alternatives.push_back(std::move(tokens));
    const std::pair<const char*, std::string> behind[] = {{"a", " " + text}, {"(", text}};
    for (const auto& [before, added] : behind)
      if (tokens = encode_behind(tokenizer, before, added); !tokens.empty())
        term.alternatives.push_back(std::move(tokens));
  }
  return term;
}

const int32_t* RequiredTerms::Node::find(int32_t token) const {
  const auto found = std::ranges::find(next, token, &std::pair<int32_t, int32_t>::first);
  return found == next.end() ? nullptr : &found->second;
}

RequiredTerms::RequiredTerms(std::vector<RequiredTerm> terms, int64_t vocab_size,
                             std::shared_ptr<const TokenJoints> joints, TokenRange text)
    : joints_(std::move(joints)), text_(text) {
  for (RequiredTerm& term : terms) {
    check_required(term, vocab_size, text);
    std::ranges::sort(term.alternatives);
    const auto repeated = std::ranges::unique(term.alternatives);
    term.alternatives.erase(repeated.begin(), repeated.end());
    const auto same = std::ranges::find_if(
        terms_, [&](const Term& other) { return other.term.alternatives == term.alternatives; });
    if (same == terms_.end()) {
      terms_.push_back(automaton_of(std::move(term)));
      continue;
    }
    RequiredTerm& sum = same->term;
    sum.count += term.count;
    sum.places.insert(sum.places.end(), term.places.begin(), term.places.end());
  }
  for (const Term& term : terms_) longest_ = std::max(longest_, term.longest);
}

RequiredTerms::Term RequiredTerms::automaton_of(RequiredTerm required) const {
  Term term{.term = std::move(required), .nodes = std::vector<Node>(1)};
  for (const std::vector<int32_t>& tokens : term.term.alternatives) {
    term.longest = std::max(term.longest, std::ssize(tokens));
    add_alternative(term, tokens);
  }
  add_fallbacks(term.nodes);
  add_fewest_left(term.nodes);
  return term;
}

void RequiredTerms::add_alternative(Term& term, std::span<const int32_t> tokens) const {
  const bool stands_alone = !joints_ || !joints_->begins_inside(tokens.front());
  size_t node = 0;
  for (const int32_t token : tokens) {
    if (const int32_t* const next = term.nodes[node].find(token)) {
      node = static_cast<size_t>(*next);
      continue;
    }
    const size_t added = term.nodes.size();
    term.nodes[node].next.emplace_back(token, static_cast<int32_t>(added));
    Node child;
    child.depth = term.nodes[node].depth + 1;
    child.stands_alone = stands_alone;
    term.nodes.push_back(std::move(child));
    node = added;
  }
  term.nodes[node].ends = true;
}

/// Breadth first: a fallback has a smaller depth.
void RequiredTerms::add_fallbacks(std::vector<Node>& nodes) {
  std::vector<size_t> order{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t parent = order[i];
    for (const auto& [token, child] : nodes[parent].next) {
      auto& node = nodes[static_cast<size_t>(child)];
      int32_t fallback = nodes[parent].fallback;
      const auto next = [&] { return nodes[static_cast<size_t>(fallback)].find(token); };
      while (fallback != 0 && !next()) fallback = nodes[static_cast<size_t>(fallback)].fallback;
      if (parent != 0 && next()) fallback = *next();
      node.fallback = fallback;
      order.push_back(static_cast<size_t>(child));
    }
  }
}

/// From the root by tokens that may stand behind every other one, if there are some. The tokens of
/// a node that has been reached may stand where they do, those of its fallbacks perhaps not.
void RequiredTerms::add_fewest_left(std::vector<Node>& nodes) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const auto at = [&](int32_t node) -> Node& { return nodes[static_cast<size_t>(node)]; };
  for (size_t i = nodes.size(); i-- > 0;) {  // children first
    int64_t inside_word = kNever;
    Node& node = nodes[i];
    node.fewest_left = node.ends ? 0 : kNever;
    for (const auto& [token, child] : node.next) {
      int64_t& fewest = i > 0 || at(child).stands_alone ? node.fewest_left : inside_word;
      fewest = std::min(fewest, at(child).fewest_left + 1);
    }
    if (node.fewest_left == kNever) node.fewest_left = inside_word;
  }
  std::vector<int64_t> own;
  for (const Node& node : nodes) own.push_back(node.fewest_left);
  for (Node& node : nodes)
    for (int32_t other = node.fallback;; other = at(other).fallback) {
      if (at(other).stands_alone)
        node.fewest_left = std::min(node.fewest_left, own[static_cast<size_t>(other)]);
      if (other == 0) break;
    }
}

int32_t RequiredTerms::step(const Term& term, int32_t node, int32_t token) {
  while (true) {
    const Node& from = term.nodes[static_cast<size_t>(node)];
    if (const int32_t* const next = from.find(token)) return *next;
    if (node == 0) return 0;
    node = from.fallback;
  }
}

int64_t RequiredTerms::fewest_tokens() const {
  int64_t tokens = 0;
  for (const Term& term : terms_) tokens += term.term.count * term.nodes.front().fewest_left;
  return tokens;
}

std::vector<int32_t> RequiredTerms::tokens() const {
  std::vector<int32_t> all;
  for (const Term& term : terms_)
    for (const std::vector<int32_t>& alternative : term.term.alternatives)
      all.insert(all.end(), alternative.begin(), alternative.end());
  return all;
}

void RequiredTerms::check(int64_t room, std::span<const int32_t> end_tokens) const {
  for (const Term& term : terms_)
    for (const std::vector<int32_t>& tokens : term.term.alternatives)
      require_input(std::ranges::find_first_of(tokens, end_tokens) == tokens.end(),
                    "the required term {} has a token that ends an output", quoted(term.term.name));
  const int64_t fewest = fewest_tokens();
  require_input(fewest <= room, "the required terms have {} tokens, the output has room for {}",
                fewest, room);
}

TermProgress::TermProgress(std::shared_ptr<const RequiredTerms> terms, int64_t room)
    : terms_(std::move(terms)), room_(room) {
  for (const RequiredTerms::Term& term : terms_->terms_) {
    places_.push_back({0, term.term.count});
    missing_ += term.term.count;
  }
}

/// Whether `token` continues the word of the last token.
bool TermProgress::joins(int32_t token) const {
  return last_ >= 0 && terms_->joints_ && terms_->joints_->joins(last_, token);
}

/// Whether the last `tokens` do not begin inside of a word.
bool TermProgress::starts_between_words(int64_t tokens) const {
  return !terms_->joints_ || tokens > 64 || (word_starts_ >> (tokens - 1) & 1) != 0;
}

void TermProgress::append(int32_t token) {
  --room_;
  const bool joined = joins(token);
  word_starts_ = word_starts_ << 1 | (joined ? 0 : 1);
  last_ = token;
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].count > 0 || places_[i].ended) advance(i, token, joined);
}

void TermProgress::advance(size_t i, int32_t token, bool joined) {
  const RequiredTerms::Term& term = terms_->terms_[i];
  const auto node_at = [&](int32_t node) -> const RequiredTerms::Node& {
    return term.nodes[static_cast<size_t>(node)];
  };
  Place& place = places_[i];
  if (place.ended && joined) {
    ++place.count;
    ++missing_;
    --met_;
  } else if (place.ended) {
    place.node = 0;
  }
  place.ended = false;
  if (place.count == 0) return;
  place.node = RequiredTerms::step(term, place.node, token);
  while (place.node != 0 && !starts_between_words(node_at(place.node).depth))
    place.node = node_at(place.node).fallback;
  for (int32_t end = place.node; end != 0 && !place.ended; end = node_at(end).fallback)
    place.ended = node_at(end).ends && starts_between_words(node_at(end).depth);
  if (!place.ended) return;
  --place.count;
  --missing_;
  ++met_;
}

int64_t TermProgress::bank() const {
  int64_t nearest = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const RequiredTerms::Term& term = terms_->terms_[i];
    if (const int32_t node = places_[i].node_in_progress())
      nearest = std::max(
          nearest, terms_->longest_ - term.longest + term.nodes[static_cast<size_t>(node)].depth);
  }
  return met_ * terms_->longest_ + nearest;
}

bool TermProgress::attends_to(size_t i, std::span<const float> attention) const {
  const std::vector<TokenRange>& places = terms_->terms_[i].term.places;
  if (places.empty() || attention.empty()) return true;
  const auto most = [&](const TokenRange& range) {
    return std::ranges::max(attention.subspan(static_cast<size_t>(range.begin),
                                              static_cast<size_t>(range.end - range.begin)));
  };
  const float of_text = most(terms_->text_);
  return std::ranges::any_of(
      places, [&](const TokenRange& place) { return most(place) >= kShare * of_text; });
}

std::vector<int32_t> TermProgress::next_tokens(std::span<const float> attention) const {
  const bool in_progress = std::ranges::any_of(
      places_, [](const Place& place) { return place.count > 0 && place.node_in_progress() != 0; });
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < places_.size(); ++i) {
    const int32_t node = places_[i].node_in_progress();
    if (places_[i].count == 0 || (in_progress && node == 0)) continue;
    if (node == 0 && !attends_to(i, attention)) continue;
    for (const auto& [token, next] : terms_->terms_[i].nodes[static_cast<size_t>(node)].next)
      if (node != 0 || !joins(token)) add_once(tokens, token);
  }
  return tokens;
}

/// All occurrences that are missing, with those that the next token may undo if `undone`, one after
/// the other.
int64_t TermProgress::fewest_tokens_from_start(bool undone) const {
  int64_t fewest = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const int64_t count = places_[i].count + (undone && places_[i].ended ? 1 : 0);
    fewest += count * terms_->terms_[i].nodes.front().fewest_left;
  }
  return fewest;
}

/// One term in progress can be completed; what others have may be lost by that.
int64_t TermProgress::fewest_tokens() const {
  int64_t saved = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const int32_t node = places_[i].node_in_progress();
    if (places_[i].count == 0 || node == 0) continue;
    const std::vector<RequiredTerms::Node>& nodes = terms_->terms_[i].nodes;
    saved =
        std::max(saved, nodes.front().fewest_left - nodes[static_cast<size_t>(node)].fewest_left);
  }
  return fewest_tokens_from_start(false) - saved;
}

int64_t TermProgress::fewest_tokens_behind(int32_t token) const {
  TermProgress next = *this;
  next.append(token);
  return next.fewest_tokens();
}

/// Those behind which some missing term is in progress, or has ended.
std::vector<int32_t> TermProgress::tokens_that_matter() const {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].count == 0 && !places_[i].ended) continue;
    const std::vector<RequiredTerms::Node>& nodes = terms_->terms_[i].nodes;
    for (auto node = static_cast<size_t>(places_[i].node);;
         node = static_cast<size_t>(nodes[node].fallback)) {
      for (const auto& [token, next] : nodes[node].next) add_once(tokens, token);
      if (node == 0) break;
    }
  }
  return tokens;
}

void TermProgress::restrict(const TokenLogits& logits, std::span<const int32_t> end_tokens) const {
  if (!complete())
    for (const int32_t token : end_tokens)
      if (float* const logit = logits.find(token)) *logit = kForbiddenLogit;
  if (fewest_tokens_from_start(true) < room_) return;
  std::vector<TokenLogit> kept;
  for (const int32_t token : tokens_that_matter())
    if (const float* const logit = logits.find(token))
      if (fewest_tokens_behind(token) < room_) kept.push_back({*logit, token});
  // Others end the terms in progress, and undo those that ended if they continue their last word.
  if (fewest_tokens_from_start(false) < room_) {
    for (const TokenLogit& other : logits.allowed())
      if (joins(other.token)) *logits.find(other.token) = kForbiddenLogit;
  } else {
    logits.forbid_all();
  }
  for (const auto& [logit, token] : kept) *logits.find(token) = logit;
}

}  // namespace heed::generate
