#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/document/document.h"
#include "heed/model.h"
#include "heed/translation.h"

namespace heed::engine {

/// Throws InputError if `options` allow sentences that are longer than the model reads.
void check_sentence_tokens(const Model& model, const DocumentOptions& options);

/// A document and the sentences by which it is translated.
class SplitDocument {
 public:
  /// `decoded` as in document::KeepOptions. Of `options.translate` the source language counts,
  /// which must be one of the model. Throws Error as Model::translate_document().
  SplitDocument(const Model& model, const std::string& text, const DocumentOptions& options,
                bool decoded = false);

  /// In order, with no translations yet.
  const std::vector<DocumentSentence>& sentences() const { return sentences_; }
  /// Whether with() needs alignments.
  bool uses_alignments() const { return document_.uses_alignments(); }
  /// The translated document. `translation_of` gives that of a sentence by its number; null: the
  /// sentence stays.
  std::string with(const std::function<const Candidate*(size_t sentence)>& translation_of) const;

 private:
  document::Document document_;
  std::vector<std::vector<document::ByteRange>> parts_;  // of each segment: the sentences
  std::vector<DocumentSentence> sentences_;
};

}  // namespace heed::engine
