#pragma once

#include <functional>
#include <memory>
#include <span>
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
    /// If given: what the translation of a line with these tokens must contain; null: nothing.
    std::function<std::shared_ptr<const RequiredTerms>(const std::string& line,
                                                       std::span<const int32_t> source)>
        terms_of = nullptr;
    std::shared_ptr<const Shortlist> shortlist = {};  // limits the tokens of each translation
  };
  /// The model and the tokenizer must outlive this. Throws Error when their vocabularies differ,
  /// on search options out of range, and on
  /// languages as TranslationTokenizer does.
  Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
             Options options);

  /// The translations in the order of `lines`. Throws Error on invalid UTF-8, on a line longer than
  /// the model's context and as terms_of() and check_terms() do, naming the first such line
  /// (counted from `first_line`), and as checked_logits() does.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     int64_t first_line = 1) const;

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
