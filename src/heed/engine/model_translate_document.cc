#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/document/sentences/segment_parts.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/translated_segment.h"
#include "heed/generate/generate_options.h"
#include "heed/model.h"
#include "heed/tasks/text_settings.h"

namespace heed {
namespace {

using document::ByteRange, document::TranslatedSegment;

/// Sentences between two reports of progress. They have similar lengths, so that batches are full.
constexpr size_t kReportedSentences = 256;

/// The longest part of a sentence, in tokens.
int64_t longest_part(const engine::LoadedModel& model, const DocumentOptions& options) {
  constexpr int64_t kOtherwise = 128;
  const int64_t context = tasks::context_limit(model.transformer->config());
  const int64_t asked = options.max_sentence_tokens;
  require_input(context == 0 || asked <= context,
                "max_sentence_tokens is {}, and the model reads at most {} tokens", asked, context);
  if (asked > 0) return asked;
  const int64_t trained = model.sentences.value().max_source_tokens;
  const int64_t limit = context > 0 ? context : kOtherwise;
  return trained > 0 ? std::min(trained, limit)
                     : std::min(kOtherwise, std::max(limit / 2, int64_t{1}));
}

document::SentenceSplitter splitter_for(const engine::LoadedModel& model,
                                        const DocumentOptions& options) {
  const document::SentenceSettings& settings = model.sentences.value();
  std::string language = options.sentence_language;
  if (language.empty()) language = options.translate.source_language;
  if (language.empty()) language = settings.source_language;
  return document::SentenceSplitter(language, settings.abbreviations);
}

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
  check_all<generate::DocumentOption>(options);
  translate_batch({}, options.translate);  // whether the model translates, with these options
  const document::Format format = document::format_named(options.format);
  const auto document = document::Document::read(
      text, format,
      {.placeholders = !options.translate_placeholders, .numbers = options.keep_numbers});
  const document::SentenceSplitter splitter = splitter_for(*loaded_, options);
  const int64_t longest = longest_part(*loaded_, options);
  const auto fits = [&](std::string_view part) {
    // The size decides where it can: tokens have 1 to 64 bytes, but for those of the language and
    // the end.
    constexpr int64_t kTokenBytes = 64, kOtherTokens = 4;
    const auto bytes = static_cast<int64_t>(part.size());
    if (bytes > kTokenBytes * longest) return false;
    if (bytes + kOtherTokens <= longest) return true;
    return std::ssize(source_tokens(part, options.translate)) <= longest;
  };
  DocumentTranslation result;
  std::vector<std::vector<ByteRange>> parts;  // of each segment
  for (const document::Segment& segment : document.segments()) {
    parts.push_back(document::parts_of(segment, splitter, fits));
    for (const ByteRange& part : parts.back())
      result.sentences.push_back({.paragraph = std::ssize(parts) - 1,
                                  .source = segment.text.substr(part.begin, part.end - part.begin),
                                  .translation = {}});
  }
  TranslateOptions translate = options.translate;
  translate.alignments = translate.alignments || document.uses_alignments();
  translate_sentences(*this, result.sentences, translate, on_sentences);
  std::vector<TranslatedSegment> segments;
  auto sentence = result.sentences.cbegin();
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<TranslatedSegment> own;
    for (size_t k = 0; k < parts[i].size(); ++k, ++sentence) {
      const std::vector<Candidate>& found = sentence->translation.candidates;
      own.push_back(found.empty() ? TranslatedSegment()
                                  : engine::translated_segment(sentence->source, found.front()));
    }
    segments.push_back(document::join_parts(document.segments()[i].text, parts[i], own));
  }
  result.text = document.with(segments);
  return result;
}

int64_t Model::trained_source_tokens() const {
  return loaded_->sentences.has_value() ? loaded_->sentences.value().max_source_tokens : 0;
}

}  // namespace heed
