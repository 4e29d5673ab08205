#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace heed::generate {

/// The logit of a token that must not be chosen, and the largest one that logits are limited to.
inline constexpr float kForbiddenLogit = -std::numeric_limits<float>::infinity();
inline constexpr float kMaxLogit = std::numeric_limits<float>::max();

struct TokenLogit {
  float logit;
  int32_t token;
  /// More probable first; of equal logits that of the smaller token.
  bool operator<(const TokenLogit& other) const {
    return logit != other.logit ? logit > other.logit : token < other.token;
  }
};

/// The logits (or log-probabilities) of the next token: of the whole vocabulary, or of the tokens
/// that have the largest. A view, whose logits may be overwritten.
class TokenLogits {
 public:
  /// The logits [V] of all tokens.
  explicit TokenLogits(std::span<float> all) : logits_(all) {}
  /// Those of some tokens, not of the tokens -1; no other token's is above `bound`, which is
  /// kForbiddenLogit if there is no other token.
  TokenLogits(std::span<float> logits, std::span<const int32_t> tokens, float bound)
      : logits_(logits), tokens_(tokens), bound_(bound) {}

  /// Where the logit of a token is; null if it is not known, or not in the vocabulary.
  float* find(int32_t token) const {
    if (tokens_.empty())
      return token >= 0 && static_cast<size_t>(token) < logits_.size()
                 ? &logits_[static_cast<size_t>(token)]
                 : nullptr;
    const auto found = std::ranges::find(tokens_, token);
    return token < 0 || found == tokens_.end() ? nullptr : &logits_[index_of(found)];
  }

  /// Whether all tokens are there, or the others are forbidden.
  bool complete() const { return bound_ == kForbiddenLogit; }
  float bound() const { return bound_; }
  /// Whether there are `count` tokens, or all, that are more probable than any other one.
  bool has_largest(int64_t count) const {
    return complete() ||
           std::ranges::count_if(logits_, [&](float logit) { return logit > bound_; }) >= count;
  }
  /// The logits of all tokens, by token; empty if they are of some.
  std::span<const float> by_token() const {
    return tokens_.empty() ? logits_ : std::span<const float>();
  }

  void forbid_all() const { std::ranges::fill(logits_, kForbiddenLogit); }
  /// Forbids the tokens whose bit of `mask` is 0: bit `token % 64` of word token / 64. There are as
  /// many bits as tokens in the vocabulary.
  void keep(std::span<const uint64_t> mask) const {
    const auto kept = [&](size_t token) { return mask[token / 64] >> (token % 64) & 1; };
    for (size_t i = 0; i < logits_.size(); ++i) {
      const bool all_of_word = tokens_.empty() && i % 64 == 0 && mask[i / 64] == ~uint64_t{0};
      if (all_of_word)
        i += 63;
      else if (tokens_.empty() ? !kept(i)
                               : tokens_[i] >= 0 && !kept(static_cast<size_t>(tokens_[i])))
        logits_[i] = kForbiddenLogit;
    }
  }

  /// The tokens that are not forbidden.
  std::vector<TokenLogit> allowed() const {
    std::vector<TokenLogit> all;
    all.reserve(logits_.size());
    visit_at_least(std::numeric_limits<float>::lowest(), [&](float logit, int32_t token) {
      all.push_back({logit, token});
    });
    return all;
  }

  /// The most probable token, of those that are known; token -1 if all are forbidden.
  TokenLogit most_probable() const {
    TokenLogit most{kForbiddenLogit, -1};
    visit_at_least(most.logit, [&](float logit, int32_t token) {
      if (logit > most.logit) most = {logit, token};
    });
    return most;
  }

  /// Calls visit(logit, token) for every token whose logit is at least `bound`. visit() may raise
  /// the bound.
  template <typename Visit>
  void visit_at_least(const float& bound, const Visit& visit) const {
    if (tokens_.empty()) return visit_all_at_least(bound, visit);
    for (size_t i = 0; i < logits_.size(); ++i)
      if (tokens_[i] >= 0 && !(logits_[i] < bound)) visit(logits_[i], tokens_[i]);
  }

 private:
  size_t index_of(std::span<const int32_t>::iterator place) const {
    return static_cast<size_t>(place - tokens_.begin());
  }

  /// Nearly all blocks are below the bound; the compiler vectorises the loop that skips them.
  template <typename Visit>
  void visit_all_at_least(const float& bound, const Visit& visit) const {
    constexpr size_t kBlock = 32;
    for (size_t begin = 0; begin < logits_.size(); begin += kBlock) {
      const size_t end = std::min(begin + kBlock, logits_.size());
      int32_t any = 0;
      for (size_t token = begin; token < end; ++token) any |= logits_[token] < bound ? 0 : 1;
      if (any == 0) continue;
      for (size_t token = begin; token < end; ++token)
        if (!(logits_[token] < bound)) visit(logits_[token], static_cast<int32_t>(token));
    }
  }

  std::span<float> logits_;
  std::span<const int32_t> tokens_;  // of each logit; empty: logit i is that of token i
  float bound_ = kForbiddenLogit;
};

}  // namespace heed::generate
