#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::text {

/// Throws Error that names the file `name` when the bytes of a SentencePiece .model file are not a
/// protocol-buffer message, or when one of its compiled normalisation tables (a double-array trie,
/// Aoe 1989, followed by its replacements) points outside itself or exceeds the limits of
/// base/reader_limits.h. The library walks these tables unchecked.
void check_sentencepiece_model(std::string_view serialized, const std::string& name);

/// Throws Error when a piece is longer than the library searches for in reasonable time. The model
/// has passed check_sentencepiece_model().
void check_piece_lengths(std::string_view serialized, const std::string& name);

/// The self-test that a model may contain: texts, and for each the pieces, separated by spaces,
/// into which the trainer split it.
struct SelfTest {
  std::vector<std::pair<std::string, std::string>> samples;
  /// The model without its self-test. If that fails, the library prints the samples unescaped to
  /// standard error and gives no reason.
  std::string model;
};

/// The model has passed check_sentencepiece_model().
SelfTest take_self_test(std::string_view serialized);

}  // namespace heed::text
