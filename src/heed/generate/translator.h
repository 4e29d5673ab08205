#pragma once

#include <string>
#include <vector>

#include "heed/generate/search.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

struct TranslatedLine {
  struct Candidate {
    std::string text;
    Hypothesis hypothesis;
  };
  std::vector<int32_t> source;        // tokens, with end of sequence
  std::vector<Candidate> candidates;  // best first; empty for an empty line
};

/// Translates lines of text, in batches of sentences of similar length. Each thread translates
/// whole batches; a single batch is shared by all threads.
class Translator {
 public:
  struct Options {
    SearchOptions search = {};
    DType dtype = DType::f32;
    int64_t batch_tokens = 0;  // most source tokens times beam of one batch; 0: the fastest number
    bool scores = false;       // replaces SearchOptions::scores
  };
  /// The model and the tokenizer must outlive this. Throws Error when their vocabularies differ,
  /// and on search options out of range.
  Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
             Options options);

  /// The translations in the order of `lines`. Throws Error on invalid UTF-8 and on a line longer
  /// than the model reads, naming the first such line (they are counted from `first_line`), and as
  /// checked_logits() does.
  std::vector<TranslatedLine> translate(const std::vector<std::string>& lines,
                                        int64_t first_line = 1) const;

 private:
  std::vector<int32_t> read(const std::string& line) const;
  int64_t batch_tokens() const;
  void translate_batch(const std::vector<TranslatedLine*>& lines) const;

  const model::Transformer& model_;
  const text::TranslationTokenizer& tokenizer_;
  Options options_;
};

}  // namespace heed::generate
