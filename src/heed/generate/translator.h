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

/// Translates lines of text with a model: tokens, batches of sentences of similar length, search,
/// text. Threads take a batch each, one after the other; a single batch is shared by all of them.
class Translator {
 public:
  struct Options {
    SearchOptions search = {};
    DType dtype = DType::f32;
    int64_t batch_tokens = 0;  // source tokens times beam of one batch, at most; 0: what is fast
    bool scores = false;       // of greedy search, in place of SearchOptions::scores
  };
  /// The model and the tokenizer must outlive this. Throws Error when their vocabularies differ.
  Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
             Options options);

  /// The translations in the order of `lines`. Throws Error, naming the line counted from
  /// `first_line`, on invalid UTF-8 and on a line longer than the model reads; of several such
  /// lines, the first.
  std::vector<TranslatedLine> translate(const std::vector<std::string>& lines,
                                        int64_t first_line = 1) const;

 private:
  std::vector<int32_t> read(const std::string& line, int64_t number) const;
  int64_t batch_tokens() const;
  void translate_batch(const std::vector<TranslatedLine*>& lines) const;

  const model::Transformer& model_;
  const text::TranslationTokenizer& tokenizer_;
  Options options_;
};

}  // namespace heed::generate
