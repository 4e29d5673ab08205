#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/word_alignment.h"

namespace heed::data {

/// A sentence and its translation, as tokens.
struct TokenPair {
  std::vector<int32_t> source, target;
};

/// The source of LexicalEntry that stands for none.
inline constexpr int32_t kNoSource = -1;

/// How likely a target token is as the translation of a source token: p(target | source). With
/// kNoSource: the relative frequency of the target token.
struct LexicalEntry {
  int32_t target = 0, source = kNoSource;
  float probability = 0;
};

struct LexicalTableOptions {
  int64_t iterations = 5;  // of expectation maximisation
  int64_t best = 50;       // entries of a source token, at most: the most probable
  int64_t frequent = 100;  // entries without a source, at most
};

/// Entries whose probability is less are left out.
inline constexpr float kLeastLexicalProbability = 1e-3f;

/// IBM Model 1 (Brown et al. 1993) of parallel text, in which every word of a sentence is as likely
/// as any other, or an empty one, to be what a word of the translation was translated from. Entries
/// are ordered by source, those without one first, and then by probability. They do not depend on
/// the number of threads. Throws Error on negative tokens.
std::vector<LexicalEntry> lexical_table(std::span<const TokenPair> pairs,
                                        const LexicalTableOptions& options);

/// The same of text whose words are aligned: relative frequencies of the links [B] between
/// the tokens of each pair.
std::vector<LexicalEntry> lexical_table(std::span<const TokenPair> pairs,
                                        std::span<const std::vector<Link>> links,
                                        const LexicalTableOptions& options);

}  // namespace heed::data
