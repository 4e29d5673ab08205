#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "heed/generate/required_terms.h"
#include "heed/generate/token_rules.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

/// Tokens in ascending order, without repetitions; null: all tokens.
using TokenList = std::shared_ptr<const std::vector<int32_t>>;

/// A lexical shortlist: for each token of a source the tokens of the target that are likely in its
/// translation, and the most frequent tokens of the target (Jean et al. 2015; Marian's
/// --shortlist). Immutable.
class Shortlist {
 public:
  /// Entries that are used of a file: the most probable of each source token, and the most frequent
  /// tokens. They are the defaults of Marian.
  static constexpr size_t kMostOfToken = 100, kMostFrequent = 100;

  /// Reads lines "target source probability", Marian's lex.s2t, of the tokenizer's pieces. Target
  /// tokens are those below `vocab_size`, the model's. Lines of
  /// the source NULL have the frequent tokens; without them, these are the first of the vocabulary,
  /// as for Marian. Where source and target have the same piece, it is a likely translation of
  /// itself. Lines with pieces that the vocabulary lacks are skipped. Throws Error on a line that
  /// is none of that, which it names, and when most lines have such pieces: the file then belongs
  /// to another vocabulary.
  static Shortlist read(const std::filesystem::path& path,
                        const text::TranslationTokenizer& tokenizer, int64_t vocab_size);

  /// The tokens that may be in the translation of a source: those of its tokens, the most frequent
  /// ones, those that end or begin an output by `rules`, and those of `terms` (null: none).
  TokenList tokens_for(std::span<const int32_t> source, const TokenRules& rules,
                       const RequiredTerms* terms = nullptr) const;

 private:
  std::vector<std::vector<int32_t>> of_source_;  // by source token
  std::vector<int32_t> frequent_;
};

}  // namespace heed::generate
