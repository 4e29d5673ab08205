#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/piece_automaton.h"
#include "heed/text/utf8.h"

namespace heed::text {

namespace {

/// pair(i) is the pair of rank i.
template <typename Pair>
std::vector<BpeMerge> merges_of(const Vocabulary& vocabulary, size_t count, const Pair& pair,
                                const BpeOptions& options, const std::string& file) {
  std::vector<BpeMerge> merges;
  merges.reserve(count);
  const auto number = [&](std::string_view piece) {
    const auto id = vocabulary.find(piece);
    if (!id) fail("{}: the piece {} of a merge is not in the vocabulary", file, quoted(piece));
    return *id;
  };
  const size_t prefix = options.continuing_prefix.size();
  std::string merged;
  for (size_t i = 0; i < count; ++i) {
    const auto& [left, right] = pair(i);
    if (right.size() < prefix)
      fail("{}: the piece {} of a merge is shorter than the prefix {}", file, quoted(right),
           quoted(options.continuing_prefix));
    merged.assign(left).append(right.substr(prefix));
    merges.push_back({number(left), number(right), static_cast<int32_t>(i), number(merged)});
  }
  return merges;
}

/// All pairs of pieces whose concatenation is `piece`, the shortest left one first.
std::vector<std::pair<int32_t, int32_t>> splits_of(std::string_view piece,
                                                   const PieceAutomaton& automaton) {
  struct Part {
    size_t bytes;
    int32_t id;
  };
  std::vector<Part> lefts, rights;
  const auto state = automaton.for_each_prefix(piece, [&](size_t bytes, int32_t id) {
    lefts.push_back({bytes, id});
  });
  automaton.for_each_suffix(state, [&](size_t bytes, int32_t id) {
    rights.push_back({bytes, id});
  });
  std::vector<std::pair<int32_t, int32_t>> splits;
  auto right = rights.begin();
  for (const Part& left : lefts) {
    while (right != rights.end() && left.bytes + right->bytes > piece.size()) ++right;
    if (right == rights.end()) break;
    if (left.bytes + right->bytes == piece.size()) splits.emplace_back(left.id, right->id);
  }
  return splits;
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
  const PieceAutomaton automaton(vocabulary);
  std::vector<BpeMerge> merges;
  for (int32_t id = 0; id < vocabulary.end(); ++id) {
    const std::string* piece = vocabulary.piece(id);
    const auto& score = scores[static_cast<size_t>(id)];
    if (piece == nullptr || !score || vocabulary.find(*piece) != id) continue;
    for (const auto& [left, right] : splits_of(*piece, automaton))
      merges.push_back({left, right, rank_of(*score), id});
  }
  return merges;
}

PiecePair read_merge(std::string_view line, const std::string& where) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
    fail("{}: the merge is {}, expected two pieces separated by a space", where, quoted(line));
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
