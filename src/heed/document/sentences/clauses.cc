#include "heed/document/sentences/clauses.h"

#include "heed/document/sentences/sentence_break.h"

namespace heed::document {
namespace {

/// How good a place for a cut is: the better, the larger.
enum class CutRank { none, character, word, comma, clause };

bool is_dash(char32_t value) {
  return value == '-' || (value >= 0x2012 && value <= 0x2015);  // figure dash to horizontal bar
}

bool is_comma(char32_t value) {
  constexpr std::u32string_view kCommas = U",،、，､";
  return kCommas.find(value) != kCommas.npos;
}

/// The rank of a cut before the character at `position`.
CutRank rank_at(const TextView& text, size_t position, ByteRange range) {
  const SentenceBreak kind = text.break_at(position);
  const size_t previous = text.previous(position);
  const char32_t before = text.at(previous);
  const SentenceBreak kind_before = sentence_break(before);
  if (kind == SentenceBreak::extend) return CutRank::none;
  const bool wide = before > 0x7F && !is_dash(before);
  if (kind != SentenceBreak::space && !(wide && kind_before == SentenceBreak::comma))
    return kind_before == SentenceBreak::space ? CutRank::none : CutRank::character;
  if (kind_before == SentenceBreak::comma)
    return is_comma(before) ? CutRank::comma : CutRank::clause;
  const bool dash = is_dash(before) && previous > range.begin &&
                    text.break_at(text.previous(previous)) == SentenceBreak::space;
  return dash ? CutRank::clause : CutRank::word;
}

/// The best place of the middle half, of several the one nearest to the middle; the end of the
/// range if it has one character.
size_t best_cut(const TextView& text, ByteRange range) {
  const size_t size = range.end - range.begin, middle = range.begin + size / 2;
  size_t best = range.end, distance = size;
  CutRank rank = CutRank::none;
  const auto consider = [&](size_t position) {
    if (position <= range.begin || position >= range.end) return;
    const CutRank own = rank_at(text, position, range);
    const size_t away = position > middle ? position - middle : middle - position;
    if (own < rank || own == CutRank::none || (own == rank && away >= distance)) return;
    best = position;
    rank = own;
    distance = away;
  };
  size_t at = text::code_point_begin(text.bytes(), range.begin + size / 4);
  for (; at < range.end - size / 4; at = text.next(at)) consider(at);
  for (; rank == CutRank::none && at < range.end; at = text.next(at)) consider(at);
  return best;
}

void cut(const TextView& text, ByteRange range,
         const std::function<bool(std::string_view part)>& fits, std::vector<ByteRange>& parts) {
  range = {text.skip_spaces(range.begin, range.end), text.trim_spaces(range.begin, range.end)};
  if (range.begin >= range.end) return;
  const size_t middle = fits(text.bytes().substr(range.begin, range.end - range.begin))
                            ? range.end
                            : best_cut(text, range);
  if (middle == range.end) {
    parts.push_back(range);
    return;
  }
  cut(text, {range.begin, middle}, fits, parts);
  cut(text, {middle, range.end}, fits, parts);
}

}  // namespace

std::vector<ByteRange> cut_at_clauses(std::string_view text, ByteRange sentence,
                                      const std::function<bool(std::string_view part)>& fits) {
  std::vector<ByteRange> parts;
  cut(TextView(text), sentence, fits, parts);
  return parts;
}

}  // namespace heed::document
