#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/fingerprint.h"
#include "heed/data/parallel_text.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::train {

/// The alignments of a training text, found by the text of a pair, so that pairs may be held out,
/// filtered and ordered in any way. Of pairs with the same text, the first counts.
class WordAlignments {
 public:
  /// None.
  WordAlignments() = default;
  /// Reads a line "0-0 1-2" for each pair. Throws Error, with the line, as parse_pharaoh() does,
  /// and when there are not as many lines as pairs.
  WordAlignments(const std::filesystem::path& file, const std::vector<data::SentencePair>& pairs);

  /// Adds the alignments to the fingerprint of the text.
  void add_to(data::Fingerprint& fingerprint) const;
  /// The links between the tokens of a pair, which are those of the tokenizer.
  std::vector<data::Link> links_of(const data::SentencePair& pair, const data::Example& tokens,
                                   const text::TranslationTokenizer& tokenizer) const;

 private:
  std::unordered_map<std::string, std::vector<data::Link>> links_;  // of words, by source\ttarget
  uint64_t hash_ = 0;
};

}  // namespace heed::train
