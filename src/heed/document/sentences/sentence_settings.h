#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "heed/document/sentences/learned_rules.h"

namespace heed::document {

/// The file of a model directory in which heed keeps what training has shown of sentences.
inline constexpr const char* kSentencesFile = "sentences.json";

/// What a model directory says of the sentences that its model translates.
struct SentenceSettings {
  /// The tokens of a source that one in a thousand examples of the training exceeded; 0: not known.
  int64_t max_source_tokens = 0;
  /// Of the training's sources.
  LearnedRules learned = {};
  /// The language that tokenizer_config.json names, if there are rules for it; not written.
  std::string source_language = {};
};

/// Reads kSentencesFile and tokenizer_config.json; what is not there stays unknown. Throws Error,
/// naming file and key, on a wrong type.
SentenceSettings read_sentence_settings(const std::filesystem::path& directory);

/// The text of kSentencesFile.
std::string text_of(const SentenceSettings& settings);

}  // namespace heed::document
