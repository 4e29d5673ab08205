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

void check_term(const RequiredTerm& term, int64_t vocab_size) {
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
}

/// The tokens of a text without end of sequence.
std::vector<int32_t> encode_without_end(const text::TranslationTokenizer& tokenizer,
                                        std::string_view text) {
  std::vector<int32_t> tokens = tokenizer.encode_target(text);
  while (!tokens.empty() && tokenizer.is_special(tokens.back())) tokens.pop_back();
  return tokens;
}

/// The tokens of `text` behind another word; none if that changes those of the word.
std::vector<int32_t> encode_inside(const text::TranslationTokenizer& tokenizer,
                                   const std::string& text) {
  constexpr std::string_view kWord = "a";
  const std::vector<int32_t> word = encode_without_end(tokenizer, kWord);
  const std::vector<int32_t> both = encode_without_end(tokenizer, std::string(kWord) + " " + text);
  if (both.size() <= word.size() || !std::equal(word.begin(), word.end(), both.begin())) return {};
  return {both.begin() + std::ssize(word), both.end()};
}

}  // namespace

RequiredTerm required_term(const text::TranslationTokenizer& tokenizer,
                           std::span<const std::string> alternatives, int64_t count) {
  RequiredTerm term{
      .name = alternatives.empty() ? "" : alternatives.front(), .alternatives = {}, .count = count};
  for (const std::string& text : alternatives) {
    blame_input([&] { text::require_utf8(text, "a required term"); });
    std::vector<int32_t> tokens = encode_without_end(tokenizer, text);
    require_input(!tokens.empty(), "the required term {} is empty", quoted(text));
    for (const int32_t token : tokens)
      require_input(tokenizer.piece(token) != "<unk>",
                    "the required term {} has characters that the vocabulary lacks", quoted(text));
    std::vector<int32_t> inside = encode_inside(tokenizer, text);
    if (!inside.empty() && inside != tokens) term.alternatives.push_back(std::move(inside));
    term.alternatives.push_back(std::move(tokens));
  }
  return term;
}

const int32_t* RequiredTerms::Node::find(int32_t token) const {
  const auto found = std::ranges::find(next, token, &std::pair<int32_t, int32_t>::first);
  return found == next.end() ? nullptr : &found->second;
}

RequiredTerms::RequiredTerms(std::vector<RequiredTerm> terms, int64_t vocab_size) {
  for (RequiredTerm& term : terms) {
    check_term(term, vocab_size);
    std::ranges::sort(term.alternatives);
    const auto repeated = std::ranges::unique(term.alternatives);
    term.alternatives.erase(repeated.begin(), repeated.end());
    const auto same = std::ranges::find_if(
        terms_, [&](const Term& other) { return other.term.alternatives == term.alternatives; });
    if (same != terms_.end())
      same->term.count += term.count;
    else
      terms_.push_back(automaton_of(std::move(term)));
  }
  for (const Term& term : terms_) longest_ = std::max(longest_, term.longest);
}

RequiredTerms::Term RequiredTerms::automaton_of(RequiredTerm required) {
  Term term{.term = std::move(required), .nodes = std::vector<Node>(1)};
  for (const std::vector<int32_t>& tokens : term.term.alternatives) {
    term.longest = std::max(term.longest, std::ssize(tokens));
    add_alternative(term, tokens);
  }
  add_fallbacks(term.nodes);
  return term;
}

void RequiredTerms::add_alternative(Term& term, std::span<const int32_t> tokens) {
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
      node.ends |= nodes[static_cast<size_t>(fallback)].ends;
      order.push_back(static_cast<size_t>(child));
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    Node& node = nodes[order[i]];
    if (node.ends) continue;
    node.fewest_left = std::numeric_limits<int64_t>::max();
    for (const auto& [token, child] : node.next)
      node.fewest_left =
          std::min(node.fewest_left, nodes[static_cast<size_t>(child)].fewest_left + 1);
  }
  for (const size_t i : order)
    nodes[i].fewest_left =
        std::min(nodes[i].fewest_left, nodes[static_cast<size_t>(nodes[i].fallback)].fewest_left);
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

void TermProgress::append(int32_t token) {
  --room_;
  if (complete()) return;
  for (size_t i = 0; i < places_.size(); ++i) {
    const RequiredTerms::Term& term = terms_->terms_[i];
    Place& place = places_[i];
    if (place.count == 0) continue;
    place.node = RequiredTerms::step(term, place.node, token);
    if (!term.nodes[static_cast<size_t>(place.node)].ends) continue;
    place.node = 0;
    --place.count;
    --missing_;
    ++met_;
  }
}

int64_t TermProgress::bank() const {
  int64_t nearest = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const RequiredTerms::Term& term = terms_->terms_[i];
    if (places_[i].node != 0)
      nearest = std::max(nearest, terms_->longest_ - term.longest +
                                      term.nodes[static_cast<size_t>(places_[i].node)].depth);
  }
  return met_ * terms_->longest_ + nearest;
}

std::vector<int32_t> TermProgress::next_tokens() const {
  const bool in_progress =
      std::ranges::any_of(places_, [](const Place& place) { return place.node != 0; });
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < places_.size(); ++i) {
    const auto& [node, count] = places_[i];
    if (count == 0 || (in_progress && node == 0)) continue;
    for (const auto& [token, next] : terms_->terms_[i].nodes[static_cast<size_t>(node)].next)
      add_once(tokens, token);
  }
  return tokens;
}

/// One term in progress can be completed; what others have may be lost by that.
int64_t TermProgress::fewest_tokens() const {
  int64_t from_start = 0, saved = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const auto& [node, count] = places_[i];
    const std::vector<RequiredTerms::Node>& nodes = terms_->terms_[i].nodes;
    const int64_t fewest = nodes.front().fewest_left;
    from_start += count * fewest;
    saved = std::max(saved, fewest - nodes[static_cast<size_t>(node)].fewest_left);
  }
  return from_start - saved;
}

int64_t TermProgress::fewest_tokens_behind(int32_t token) const {
  TermProgress next = *this;
  next.append(token);
  return next.fewest_tokens();
}

/// Those behind which some missing term is in progress.
std::vector<int32_t> TermProgress::tokens_that_matter() const {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].count == 0) continue;
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
  if (complete()) return;
  for (const int32_t token : end_tokens)
    if (float* const logit = logits.find(token)) *logit = kForbiddenLogit;
  int64_t without_progress = 0;
  for (size_t i = 0; i < places_.size(); ++i)
    without_progress += places_[i].count * terms_->terms_[i].nodes.front().fewest_left;
  if (without_progress < room_) return;
  std::vector<TokenLogit> kept;
  for (const int32_t token : tokens_that_matter())
    if (const float* const logit = logits.find(token))
      if (fewest_tokens_behind(token) < room_) kept.push_back({*logit, token});
  logits.forbid_all();
  for (const auto& [logit, token] : kept) *logits.find(token) = logit;
}

}  // namespace heed::generate
