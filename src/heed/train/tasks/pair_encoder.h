#pragma once

#include <string>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/corpus.h"
#include "heed/data/parallel_text.h"
#include "heed/model/config.h"
#include "heed/text/model_tokenizer.h"

namespace heed::train {

/// Encodes the pairs of a corpus as a model is to read and write them, with the tokens of their
/// languages if it has some, and the links of its words as those of their tokens. Any number of
/// threads may encode at once.
class PairEncoder {
 public:
  /// `tokenizer` and `model` must outlive this. Throws Error when a model with languages does not
  /// have those of the corpus, and when it needs one that the corpus does not name.
  PairEncoder(const text::ModelTokenizer& tokenizer, const model::ModelConfig& model,
              const data::Corpus& corpus);

  /// Throws Error as the tokenizer does.
  data::Example operator()(const data::SentencePair& pair) const;
  /// The decoder's first input for a translation.
  const std::vector<int32_t>& prompt() const { return prompt_; }
  /// "en-de": the corpus' languages; empty if one has none.
  const std::string& direction() const { return direction_; }

 private:
  const text::ModelTokenizer& tokenizer_;
  text::LanguagePair languages_;
  std::vector<int32_t> prompt_;
  std::string direction_;
};

}  // namespace heed::train
