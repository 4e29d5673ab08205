#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/text_lines.h"
#include "heed/data/corpus.h"
#include "heed/data/word_alignment.h"

namespace heed::data {

/// A sentence and its translation.
struct SentencePair {
  std::string source, target;
  std::vector<Link> links = {};  // between their words; empty: not aligned
};

/// Reads the pairs of a corpus one after another: line i of one file with line i of the other, or
/// two columns of one file, separated by a tab; with line i of the alignments, if there are some.
class PairReader {
 public:
  /// Throws Error as LineReader does.
  explicit PairReader(const Corpus& corpus);

  /// The next pair; none after the last one. Throws Error as LineReader does, when the two files
  /// or alignments have different numbers of lines, on a line without exactly two columns, and,
  /// with the line, as parse_pharaoh() does.
  std::optional<SentencePair> next();
  /// The number of pairs read.
  int64_t number() const { return static_cast<int64_t>(source_.number()); }

 private:
  std::optional<SentencePair> next_lines();
  std::optional<SentencePair> next_columns();
  void read_links(std::optional<SentencePair>& pair);
  [[noreturn]] void fail_length();

  Corpus corpus_;
  LineReader source_;  // or the only file
  std::optional<LineReader> target_;
  std::optional<LineReader> alignments_;
};

/// All pairs of two files, or of one with two columns. Throws Error as PairReader does.
std::vector<SentencePair> read_parallel(const std::filesystem::path& source_path,
                                        const std::filesystem::path& target_path);
std::vector<SentencePair> read_tsv(const std::filesystem::path& path);

}  // namespace heed::data
