#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::data {

/// A sentence and its translation.
struct SentencePair {
  std::string source, target;
};

/// Pairs line i of one file with line i of the other. Throws Error as read_lines() does, and when
/// the files have different numbers of lines.
std::vector<SentencePair> read_parallel(const std::filesystem::path& source_path,
                                        const std::filesystem::path& target_path);

/// Reads source and target from two columns separated by a tab. Throws Error as read_lines() does,
/// and on a line without exactly two columns.
std::vector<SentencePair> read_tsv(const std::filesystem::path& path);

}  // namespace heed::data
