#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"
#include "heed/glossary.h"
#include "heed/search.h"

namespace heed {

class Model;

/// Options of a translation.
struct TranslateOptions {
  /// Beam search with 4 beams. Set `scores` if greedy search is to compute them.
  SearchOptions search = {.num_beams = 4, .scores = false};
  /// The languages of a multilingual model, by the codes of its tokenizer ("en", "en_XX",
  /// "eng_Latn"). Empty: those that its files name; translate() throws Error, which lists some
  /// codes, when these name none. OPUS-MT models for several targets have no source language.
  /// The source language "auto" is that of each line, as detect_language() tells it: translate()
  /// throws Error when it is none that the model translates from.
  std::string source_language = {}, target_language = {};
  /// How terms must be translated, by beam search with required terms (Post & Vilar 2018). A term
  /// that the vocabulary cannot spell is an InputError; so is a line whose terms do not fit into
  /// the limit of its translation.
  std::vector<GlossaryTerm> glossary = {};
  /// Terms that stand in a translation as in the source, where they have the case that is given
  /// here. As GlossaryTerm with the same target and match_case.
  std::vector<std::string> do_not_translate = {};
  /// Translates in two steps: the best translation into this language is translated again, by
  /// `then` or, without it, by the same model. For pairs that no model knows, or knows badly. The
  /// language may be in two letters ("en") where a model calls it otherwise ("eng_Latn"); a model
  /// without a choice of languages is not told. A candidate's tokens and scores are those of the
  /// second step, and its alignment leads back to the source.
  std::string via = {};
  /// The model of the second step, where `target_language` is a language of it; or null.
  std::shared_ptr<const Model> then = {};
  /// Computes Candidate::alignment, from the cross-attention of the search's own passes.
  bool alignments = false;
  /// Computes Candidate::confidence and words. Throws Error when the model has no calibration for
  /// these languages (heed/confidence.h): probabilities of a model alone are not those with which
  /// it is right. There is none for two models.
  bool confidence = false;
  /// Source tokens times num_beams per batch; 0: chosen for speed. Does not change results.
  int64_t batch_tokens = 0;

  bool operator==(const TranslateOptions&) const = default;
};

/// A line of text and its translations.
struct Translation {
  std::vector<int32_t> source;        // tokens, with end of sequence
  std::vector<Candidate> candidates;  // best first; empty for an empty line
  std::string pivot = {};             // of two steps: the text between

  /// The best translation; empty for an empty line.
  std::string text() const { return candidates.empty() ? std::string() : candidates.front().text; }
};

/// Options of the translation of a document.
struct DocumentOptions {
  TranslateOptions translate = {};  // of each sentence
  /// What the document is written in: "text", "html", "xml", "markdown", "srt", "vtt", "po",
  /// "xliff".
  std::string format = "text";
  /// The language whose abbreviations and ordinals do not end sentences ("de", "deu_Latn"). Empty:
  /// translate.source_language, or that of the model's files, or all languages together. Other
  /// languages than those of docs/usage.md have the rules of punctuation alone.
  std::string sentence_language = {};
  /// Longer sentences are cut at clauses; in tokens of the source, at most the model's context. 0:
  /// the longest that the model was trained on, as `heed train` has noted; for other models 128,
  /// or half of the context if that is less.
  int64_t max_sentence_tokens = 0;
  /// Whether placeholders ("%1$s", "{name}"), URLs and e-mail addresses are translated as words.
  /// Else the translation has each of them once, unchanged.
  bool translate_placeholders = false;
  bool keep_numbers = false;  // whether the translation has each number unchanged, too

  bool operator==(const DocumentOptions&) const = default;
};

/// Whether heed has the abbreviations of a language for DocumentOptions::sentence_language.
HEED_EXPORT bool knows_abbreviations(std::string_view language);

/// A sentence of a document, or a part of a long one.
struct DocumentSentence {
  int64_t paragraph = 0;    // counted from 0
  std::string source;       // its text
  Translation translation;  // with alignments where they were needed
};

/// The translation of a document.
struct DocumentTranslation {
  std::string text;                         // the translated document
  std::vector<DocumentSentence> sentences;  // in order
};

}  // namespace heed
