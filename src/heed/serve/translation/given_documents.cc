#include "heed/serve/translation/given_documents.h"

#include <algorithm>

#include "heed/error.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// Returns read(). What a document has wrong is the fault of its field.
template <typename Read>
auto read_field(const std::string& field, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw invalid_request(field, error.what());
  }
}

}  // namespace

GivenDocuments::GivenDocuments(const Model& model, const std::vector<std::string>& texts,
                               const DocumentOptions& options, const std::string& field,
                               bool decoded) {
  read_field(std::string(generate::DocumentOption::max_sentence_tokens.key),
             [&] { engine::check_sentence_tokens(model, options); });
  for (const std::string& text : texts) {
    documents_.push_back(
        read_field(field, [&] { return engine::SplitDocument(model, text, options, decoded); }));
    for (const DocumentSentence& sentence : documents_.back().sentences())
      sentences_.push_back(sentence.source);
    first_.push_back(sentences_.size());
  }
}

bool GivenDocuments::uses_alignments() const {
  return std::ranges::any_of(documents_, &engine::SplitDocument::uses_alignments);
}

std::string GivenDocuments::translation(size_t i, const std::vector<TranslatedText>& translated,
                                        size_t candidate) const {
  return documents_[i].with([&](size_t sentence) -> const Candidate* {
    const std::vector<Candidate>& found = translated[first_[i] + sentence].candidates;
    if (found.empty()) return nullptr;
    return &found[candidate < found.size() ? candidate : 0];
  });
}

int GivenDocuments::alternatives(size_t i, const std::vector<TranslatedText>& translated,
                                 int limit) const {
  size_t most = 1;
  for (size_t k = first_[i]; k < first_[i + 1]; ++k)
    most = std::max(most, translated[k].candidates.size());
  return std::min(limit, static_cast<int>(most) - 1);
}

std::vector<std::string> texts_in(const std::vector<std::string>& documents,
                                  const std::string& format, const std::string& field,
                                  bool decoded) {
  std::vector<std::string> texts;
  for (const std::string& text : documents) {
    const auto document = read_field(field, [&] {
      return document::Document::read(text, document::format_named(format), {.decoded = decoded});
    });
    for (const document::Segment& segment : document.segments()) texts.push_back(segment.text);
  }
  return texts;
}

}  // namespace heed::serve
