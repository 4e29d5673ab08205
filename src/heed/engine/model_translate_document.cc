#include <algorithm>
#include <numeric>

#include "heed/engine/loaded_model.h"
#include "heed/engine/split_document.h"
#include "heed/model.h"

namespace heed {
namespace {

/// Sentences between two reports of progress. They have similar lengths, so that batches are full.
constexpr size_t kReportedSentences = 256;

/// Translates all of them, in an order in which neighbours have similar lengths.
void translate_sentences(const Model& model, std::vector<DocumentSentence>& sentences,
                         const TranslateOptions& options, const Model::OnSentences& on_sentences) {
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t i) { return sentences[i].source.size(); });
  const auto all = static_cast<int64_t>(order.size());
  if (on_sentences) on_sentences(0, all);
  for (size_t begin = 0; begin < order.size(); begin += kReportedSentences) {
    const size_t end = std::min(begin + kReportedSentences, order.size());
    std::vector<std::string> lines;
    for (size_t i = begin; i < end; ++i) lines.push_back(sentences[order[i]].source);
    std::vector<Translation> found = model.translate_batch(lines, options);
    for (size_t i = begin; i < end; ++i)
      sentences[order[i]].translation = std::move(found[i - begin]);
    if (on_sentences) on_sentences(static_cast<int64_t>(end), all);
  }
}

}  // namespace

DocumentTranslation Model::translate_document(const std::string& text,
                                              const DocumentOptions& options,
                                              const OnSentences& on_sentences) const {
  translate_batch({}, options.translate);  // whether the model translates, with these options
  const engine::SplitDocument document(*this, text, options);
  TranslateOptions translate = options.translate;
  translate.alignments = translate.alignments || document.uses_alignments();
  DocumentTranslation result{.text = {}, .sentences = document.sentences()};
  translate_sentences(*this, result.sentences, translate, on_sentences);
  result.text = document.with([&](size_t sentence) -> const Candidate* {
    const std::vector<Candidate>& found = result.sentences[sentence].translation.candidates;
    return found.empty() ? nullptr : &found.front();
  });
  return result;
}

int64_t Model::trained_source_tokens() const {
  return loaded_->sentences.has_value() ? loaded_->sentences.value().max_source_tokens : 0;
}

}  // namespace heed
