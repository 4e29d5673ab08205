#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/generate/search.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/translation.h"

namespace heed::generate {

using heed::Translation;

/// Translates lines of text in batches of similar length. Each thread translates whole batches; all
/// threads share a single batch.
class Translator {
 public:
  struct Options {
    SearchOptions search = {};
    DType dtype = DType::f32;
    int64_t batch_tokens = 0;  // source tokens times num_beams per batch; 0: chosen for speed
    bool scores = false;       // replaces search.scores
    bool alignments = false;   // whether candidates have them
    text::LanguagePair languages = {};
    /// If given: the language of a line, in place of the source of `languages`.
    std::function<std::string(const std::string& line)> source_of = nullptr;
    TokenRules rules = {};  // forced_bos_id stands in for a target language
    std::shared_ptr<const Shortlist> shortlist = {};  // limits the tokens of each translation
  };
  /// The model and the tokenizer must outlive this. Throws Error when their vocabularies differ,
  /// on search options out of range, and on
  /// languages as TranslationTokenizer does.
  Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
             Options options);

  /// What each translation must contain: for each line, where null is nothing, or empty.
  using LineTerms = std::vector<std::shared_ptr<const RequiredTerms>>;

  /// The translations in the order of `lines`. Throws Error on invalid UTF-8, on a line longer than
  /// the model's context and as check_terms() does, naming the first such line (counted from
  /// `first_line`), and as checked_logits() does.
  std::vector<Translation> translate(const std::vector<std::string>& lines, int64_t first_line = 1,
                                     const LineTerms& terms = {}) const;

 private:
  struct Line {
    Translation* result;
    std::shared_ptr<const RequiredTerms> terms;
  };
  std::vector<int32_t> encode(const std::string& line) const;
  int64_t batch_tokens() const;
  GeneratorInput input_of(const Translation& line) const;
  void translate_batch(const std::vector<Line>& lines) const;

  const model::Transformer& model_;
  const text::TranslationTokenizer& tokenizer_;
  Options options_;
  std::vector<int32_t> prompt_;  // the first input of the decoder
};

}  // namespace heed::generate
