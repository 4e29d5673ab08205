#include "heed/engine/split_document.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/document/sentences/abbreviations.h"
#include "heed/document/sentences/segment_parts.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/generate_options.h"
#include "heed/tasks/text_settings.h"

namespace heed {
namespace engine {
namespace {

using document::ByteRange, document::TranslatedSegment;

/// The longest part of a sentence, in tokens.
int64_t longest_part(const LoadedModel& model, const DocumentOptions& options) {
  constexpr int64_t kOtherwise = 128;
  const int64_t context = tasks::context_limit(model.transformer->config());
  if (options.max_sentence_tokens > 0) return options.max_sentence_tokens;
  const int64_t trained = model.sentences.value().max_source_tokens;
  const int64_t limit = context > 0 ? context : kOtherwise;
  return trained > 0 ? std::min(trained, limit)
                     : std::min(kOtherwise, std::max(limit / 2, int64_t{1}));
}

document::SentenceSplitter splitter_for(const LoadedModel& model, const DocumentOptions& options) {
  const document::SentenceSettings& settings = model.sentences.value();
  std::string language = options.sentence_language;
  if (language.empty()) language = options.translate.source_language;
  if (language.empty()) language = settings.source_language;
  return document::SentenceSplitter(language, settings.learned);
}

document::Document read_document(const std::string& text, const DocumentOptions& options,
                                 bool decoded) {
  check_all<generate::DocumentOption>(options);
  return document::Document::read(text, document::format_named(options.format),
                                  {.placeholders = !options.translate_placeholders,
                                   .numbers = options.keep_numbers,
                                   .decoded = decoded});
}

TranslatedSegment translated_segment(const std::string& source, const Candidate* candidate) {
  if (!candidate) return {};
  std::vector<std::pair<int32_t, int32_t>> words;
  for (const AlignedWords& pair : candidate->alignment)
    words.emplace_back(pair.source, pair.target);
  return {.text = candidate->text,
          .alignment = document::aligned_spans(source, candidate->text, words)};
}

}  // namespace

}  // namespace engine

bool knows_abbreviations(std::string_view language) {
  return document::LanguageRules::knows(language);
}

namespace engine {

void check_sentence_tokens(const Model& model, const DocumentOptions& options) {
  const int64_t context = tasks::context_limit(loaded(model).transformer->config());
  const int64_t asked = options.max_sentence_tokens;
  require_input(context == 0 || asked <= context,
                "max_sentence_tokens is {}, and the model reads at most {} tokens", asked, context);
}

SplitDocument::SplitDocument(const Model& model, const std::string& text,
                             const DocumentOptions& options, bool decoded)
    : document_(read_document(text, options, decoded)) {
  const LoadedModel& own = loaded(model);
  check_sentence_tokens(model, options);
  const document::SentenceSplitter splitter = splitter_for(own, options);
  const int64_t longest = longest_part(own, options);
  const auto fits = [&](std::string_view part) {
    // The size decides where it can: tokens have 1 to 64 bytes, but for those of the language and
    // the end.
    constexpr int64_t kTokenBytes = 64, kOtherTokens = 4;
    const auto bytes = static_cast<int64_t>(part.size());
    if (bytes > kTokenBytes * longest) return false;
    if (bytes + kOtherTokens <= longest) return true;
    return std::ssize(model.source_tokens(part, options.translate)) <= longest;
  };
  for (const document::Segment& segment : document_.segments()) {
    parts_.push_back(document::parts_of(segment, splitter, fits));
    for (const ByteRange& part : parts_.back())
      sentences_.push_back({.paragraph = std::ssize(parts_) - 1,
                            .source = segment.text.substr(part.begin, part.end - part.begin),
                            .translation = {}});
  }
}

std::string SplitDocument::with(
    const std::function<const Candidate*(size_t sentence)>& translation_of) const {
  std::vector<TranslatedSegment> segments;
  size_t sentence = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    std::vector<TranslatedSegment> own;
    for (size_t k = 0; k < parts_[i].size(); ++k, ++sentence)
      own.push_back(translated_segment(sentences_[sentence].source, translation_of(sentence)));
    segments.push_back(document::join_parts(document_.segments()[i].text, parts_[i], own));
  }
  return document_.with(segments);
}

}  // namespace engine
}  // namespace heed
