#pragma once

#include <string>
#include <vector>

#include "heed/engine/split_document.h"
#include "heed/serve/translation/translation_call.h"

namespace heed::serve {

/// The documents of a call as the sentences that translate() takes.
class GivenDocuments {
 public:
  /// Throws ApiError, which names the `field` of the texts, if one is not of the format. Texts of
  /// files may say their encoding; those of JSON are `decoded`.
  GivenDocuments(const Model& model, const std::vector<std::string>& texts,
                 const DocumentOptions& options, const std::string& field, bool decoded = true);

  size_t size() const { return documents_.size(); }
  /// Of all documents, in order.
  const std::vector<std::string>& sentences() const { return sentences_; }
  /// Whether the translations of the sentences need alignments.
  bool uses_alignments() const;
  /// Document i with translation `candidate` of its sentences, of which those that have fewer have
  /// their best.
  std::string translation(size_t i, const std::vector<TranslatedText>& translated,
                          size_t candidate = 0) const;
  /// The number of further translations of document i, at most `limit`.
  int alternatives(size_t i, const std::vector<TranslatedText>& translated, int limit) const;
  /// The sentences of document i are those from first(i) to first(i + 1).
  size_t first(size_t i) const { return first_[i]; }
  const DocumentSentence& sentence(size_t i, size_t number) const {
    return documents_[i].sentences()[number];
  }

 private:
  std::vector<engine::SplitDocument> documents_;
  std::vector<std::string> sentences_;
  std::vector<size_t> first_ = {0};
};

/// The texts of documents in a format, without markup, for telling their language. Throws ApiError
/// as GivenDocuments().
std::vector<std::string> texts_in(const std::vector<std::string>& documents,
                                  const std::string& format, const std::string& field,
                                  bool decoded = true);

}  // namespace heed::serve
