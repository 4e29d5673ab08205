#include "heed/generate/shortlist.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/text_lines.h"

namespace heed::generate {
namespace {

constexpr std::string_view kNull = "NULL";

using PieceNumbers = std::unordered_map<std::string_view, int32_t>;

/// A target token and its probability.
struct Translated {
  float probability;
  int32_t token;
  /// More probable first; ties: the smaller token.
  bool operator<(const Translated& other) const {
    return probability != other.probability ? probability > other.probability : token < other.token;
  }
};

/// The most probable, at most `most`.
std::vector<int32_t> best_of(std::vector<Translated> all, size_t most) {
  std::ranges::sort(all, std::less());
  if (all.size() > most) all.resize(most);
  std::vector<int32_t> tokens;
  for (const Translated& one : all) tokens.push_back(one.token);
  return tokens;
}

struct LexicalLine {
  std::string_view target, source;
  float probability;
};

std::optional<LexicalLine> parse_line(std::string_view line) {
  constexpr std::string_view kSpaces = " \t";
  std::array<std::string_view, 3> columns;
  for (std::string_view& column : columns) {
    line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
    column = line.substr(0, line.find_first_of(kSpaces));
    line.remove_prefix(column.size());
  }
  const auto probability = parse_number<float>(columns[2]);
  if (!probability || !(*probability >= 0 && *probability <= 1) ||
      line.find_first_not_of(kSpaces) != line.npos)
    return {};
  return LexicalLine{columns[0], columns[1], *probability};
}

std::optional<int32_t> number_of(const PieceNumbers& numbers, std::string_view piece) {
  const auto found = numbers.find(piece);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Shortlist Shortlist::read(const std::filesystem::path& path,
                          const text::TranslationTokenizer& tokenizer, int64_t vocab_size) {
  vocab_size = std::min(vocab_size, tokenizer.vocab_size());
  PieceNumbers sources, targets;
  for (int32_t token = 0; token < tokenizer.source_vocab_size(); ++token)
    sources.try_emplace(tokenizer.source_piece(token), token);
  for (int32_t token = 0; token < vocab_size; ++token)
    targets.try_emplace(tokenizer.piece(token), token);
  std::vector<std::vector<Translated>> of_source(
      static_cast<size_t>(tokenizer.source_vocab_size()));
  std::vector<Translated> frequent;
  int64_t lines = 0, unknown = 0;
  for_each_line(path, [&](std::string_view text, size_t number) {
    const std::optional<LexicalLine> line = parse_line(text);
    require(line.has_value(),
            "{} line {}: expected a target token, a source token and a probability", path.string(),
            number);
    ++lines;
    const auto target = number_of(targets, line->target);
    const auto source = number_of(sources, line->source);
    if (target && line->source == kNull)
      frequent.push_back({line->probability, *target});
    else if (target && source)
      of_source[static_cast<size_t>(*source)].push_back({line->probability, *target});
    else if (line->target != kNull)
      ++unknown;
  });
  require(2 * unknown <= lines,
          "{}: {} of {} lines have tokens that the model lacks: the shortlist was made for another "
          "vocabulary",
          path.string(), unknown, lines);
  Shortlist shortlist;
  for (size_t source = 0; source < of_source.size(); ++source) {
    shortlist.of_source_.push_back(best_of(std::move(of_source[source]), kMostOfToken));
    if (const auto same = number_of(targets, tokenizer.source_piece(static_cast<int32_t>(source))))
      shortlist.of_source_.back().push_back(*same);
  }
  shortlist.frequent_ = best_of(std::move(frequent), kMostFrequent);
  if (shortlist.frequent_.empty()) {
    shortlist.frequent_.resize(std::min(kMostFrequent, static_cast<size_t>(vocab_size)));
    std::iota(shortlist.frequent_.begin(), shortlist.frequent_.end(), 0);
  }
  return shortlist;
}

TokenList Shortlist::tokens_for(std::span<const int32_t> source, const TokenRules& rules,
                                const RequiredTerms* terms) const {
  std::vector<int32_t> tokens = frequent_;
  const auto add = [&](std::span<const int32_t> some) {
    tokens.insert(tokens.end(), some.begin(), some.end());
  };
  add(rules.eos_ids);
  add(rules.forced_eos_ids);
  if (rules.forced_bos_id >= 0) add({&rules.forced_bos_id, 1});
  if (terms) add(terms->tokens());
  for (const int32_t token : source)
    if (static_cast<size_t>(token) < of_source_.size()) add(of_source_[static_cast<size_t>(token)]);
  std::ranges::sort(tokens);
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
  return std::make_shared<const std::vector<int32_t>>(std::move(tokens));
}

}  // namespace heed::generate
