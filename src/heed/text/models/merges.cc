#include <algorithm>
#include <limits>

#include "heed/base/json.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/utf8.h"

namespace heed::text {

namespace {

/// pair(i) has the two pieces that are merged `i`th.
template <typename Pair>
std::vector<BpeMerge> merges_of(const Vocabulary& vocabulary, size_t count, const Pair& pair,
                                const BpeOptions& options, const std::string& file) {
  std::vector<BpeMerge> merges;
  merges.reserve(count);
  const auto number = [&](std::string_view piece) {
    const auto id = vocabulary.find(piece);
    if (!id)
      fail("{}: the piece \"{}\" of a merge is not in the vocabulary", file, one_line(piece));
    return *id;
  };
  const size_t prefix = options.continuing_prefix.size();
  std::string merged;
  for (size_t i = 0; i < count; ++i) {
    const auto& [left, right] = pair(i);
    if (right.size() < prefix)
      fail("{}: the piece \"{}\" of a merge is shorter than the prefix {}", file, one_line(right),
           one_line(options.continuing_prefix));
    merged.assign(left).append(right.substr(prefix));
    merges.push_back({number(left), number(right), static_cast<int32_t>(i), number(merged)});
  }
  return merges;
}

}  // namespace

std::vector<BpeMerge> merges_of_pairs(const Vocabulary& vocabulary,
                                      const std::vector<PiecePair>& pairs,
                                      const BpeOptions& options, const std::string& file) {
  const auto pair = [&](size_t i) { return pairs[i]; };
  return merges_of(vocabulary, pairs.size(), pair, options, file);
}

std::vector<BpeMerge> merges_of_lines(const Vocabulary& vocabulary,
                                      const std::vector<std::string_view>& lines,
                                      const BpeOptions& options, const std::string& file) {
  const auto pair = [&](size_t i) { return read_merge(lines[i], file); };
  return merges_of(vocabulary, lines.size(), pair, options, file);
}

std::vector<BpeMerge> merges_of_scores(const Vocabulary& vocabulary,
                                       const std::vector<std::optional<float>>& scores) {
  std::vector<float> ranks;
  for (const auto& score : scores)
    if (score) ranks.push_back(*score);
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const auto rank_of = [&](float score) {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), score, std::greater<>());
    return static_cast<int32_t>(found - ranks.begin());
  };
  std::vector<BpeMerge> merges;
  for (int32_t id = 0; id < vocabulary.end(); ++id) {
    const std::string* piece = vocabulary.piece(id);
    const auto& score = scores[static_cast<size_t>(id)];
    if (piece == nullptr || !score || vocabulary.find(*piece) != id) continue;
    for (size_t cut = 1; cut < piece->size(); ++cut) {
      if (((*piece)[cut] & 0xC0) == 0x80) continue;
      const auto left = vocabulary.find(std::string_view(*piece).substr(0, cut));
      const auto right = vocabulary.find(std::string_view(*piece).substr(cut));
      if (left && right) merges.push_back({*left, *right, rank_of(*score), id});
    }
  }
  return merges;
}

PiecePair read_merge(std::string_view line, const std::string& where) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
    fail("{}: the merge \"{}\", expected two pieces and a space between", where, one_line(line));
  return {line.substr(0, space), line.substr(space + 1)};
}

std::vector<PiecePair> read_merges_text(std::string_view text, const std::string& file) {
  require(is_valid_utf8(text), "{}: the merges are not valid UTF-8", file);
  std::vector<PiecePair> pairs;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.starts_with("#version")) continue;
    if (line.empty() && text.empty()) break;
    pairs.push_back(read_merge(line, fmt::format("{}: line {}", file, number)));
  }
  return pairs;
}

}  // namespace heed::text
