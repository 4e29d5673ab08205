#include "heed/data/parallel_text.h"

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/text_lines.h"

namespace heed::data {

std::vector<SentencePair> read_parallel(const std::filesystem::path& source_path,
                                        const std::filesystem::path& target_path) {
  std::vector<std::string> sources = read_lines(source_path);
  std::vector<std::string> targets = read_lines(target_path);
  require(sources.size() == targets.size(),
          "{} has {} lines, {} has {}: each line must be the translation of the same line of the "
          "other file",
          source_path.string(), sources.size(), target_path.string(), targets.size());
  std::vector<SentencePair> pairs(sources.size());
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {std::move(sources[i]), std::move(targets[i])};
  return pairs;
}

std::vector<SentencePair> read_tsv(const std::filesystem::path& path) {
  std::vector<SentencePair> pairs;
  for_each_line(path, [&](std::string_view line, size_t number) {
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    require(tabs == 1, "{} line {} has {} columns, expected 2: source, tab, target", path.string(),
            number, tabs + 1);
    const size_t tab = line.find('\t');
    pairs.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
  });
  return pairs;
}

}  // namespace heed::data
