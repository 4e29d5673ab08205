#include "heed/text/added_tokens.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/pre_tokenizers/split_text.h"
#include "heed/text/text_size.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

std::string normalized_form(const std::string& content, const Normalizer* normalizer,
                            size_t max_size) {
  NormalizedText text{content, content.size()};
  if (normalizer != nullptr) normalizer->apply(text, max_size);
  return text.text;
}

/// The code point before byte `end`.
CodePoint code_point_before(std::string_view text, size_t end) {
  return code_point_at(text, code_point_begin(text, end - 1));
}

bool stands_alone(std::string_view text, TextSpan span) {
  const bool before = span.begin > 0 && is_word(code_point_before(text, span.begin).value);
  const bool after = span.end < text.size() && is_word(code_point_at(text, span.end).value);
  return !before && !after;
}

/// Where the white space before `end` begins, but not before `begin`.
size_t white_space_before(std::string_view text, size_t begin, size_t end) {
  while (end > begin && is_white_space(code_point_before(text, end).value))
    end -= code_point_before(text, end).length;
  return end;
}

/// Finds the end of runs of white space. As long as positions increase, it reads each byte once.
class WhiteSpaceEnd {
 public:
  explicit WhiteSpaceEnd(std::string_view text) : text_(text) {}

  size_t after(size_t begin) {
    // Inside the run that was read last, the end is known.
    if (begin < begin_ || begin > end_) begin_ = end_ = begin;
    while (end_ < text_.size() && is_white_space(code_point_at(text_, end_).value))
      end_ += code_point_at(text_, end_).length;
    return end_;
  }

 private:
  std::string_view text_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const TokenizerModel& model,
                         const Normalizer* normalizer, bool split_special) {
  const Vocabulary& vocabulary = model.vocabulary();
  int32_t next = model.next_id();
  size_t bytes = 0;
  for (const AddedToken& token : tokens) bytes += token.content.size();
  size_t room = max_text_size(bytes);  // for all normalised forms
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    auto id = find(token.content);
    if (!id) id = vocabulary.find(token.content);
    if (!id) id = next++;
    std::string pattern = token.content;
    if (token.normalized) {
      pattern = normalized_form(token.content, normalizer, room);
      room -= pattern.size();
    }
    ids_[token.content] = *id;
    entries_[*id] = {token, std::move(pattern)};
    if (token.special) special_.insert(token.content);
    end_ = std::max(end_, *id + 1);
  }
  plain_ = std::make_unique<PieceAutomaton>(backward_patterns(false, split_special));
  normalized_ = std::make_unique<PieceAutomaton>(backward_patterns(true, split_special));
}

PieceAutomaton AddedTokens::backward_patterns(bool normalized, bool split_special) const {
  std::vector<PieceAutomaton::Piece> patterns;
  for (const auto& [id, entry] : entries_)
    if (entry.token.normalized == normalized && !(split_special && is_special(entry.token.content)))
      patterns.push_back({entry.pattern, id});
  // Of two tokens with the same pattern the one with the lower id is found.
  std::ranges::sort(patterns, {}, &PieceAutomaton::Piece::id);
  return PieceAutomaton::backward(patterns);
}

std::vector<AddedTokens::Match> AddedTokens::find_matches(const PieceAutomaton& backward,
                                                          std::string_view text,
                                                          const Accepts& accepts) {
  std::vector<Match> reversed;
  backward.for_each_longest(text, 0, [&](size_t begin, size_t size, int32_t id) {
    const TextSpan span{begin, begin + size};
    if (!accepts || accepts(span, id)) reversed.push_back({span, id});
  });
  std::vector<Match> matches;
  for (auto match = reversed.rbegin(); match != reversed.rend(); ++match)
    if (matches.empty() || match->span.begin >= matches.back().span.end) matches.push_back(*match);
  return matches;
}

void AddedTokens::split_at(const PieceAutomaton& backward, NormalizedText&& text,
                           const Accepts& accepts, TextPieces& parts) const {
  const auto matches =
      backward.empty() ? std::vector<Match>{} : find_matches(backward, text.text, accepts);
  if (matches.empty()) {
    if (!text.text.empty()) parts.push_back({std::move(text), std::nullopt});
    return;
  }
  const std::string_view all = text.text;
  const auto add_text = [&](size_t begin, size_t end) {
    if (begin < end) parts.push_back({part_of(text, {begin, end}), std::nullopt});
  };
  WhiteSpaceEnd white_space(all);
  size_t done = 0;
  for (auto [span, id] : matches) {
    const AddedToken& token = entries_.at(id).token;
    if (token.single_word && !stands_alone(all, span)) continue;
    if (token.strip_left && span.begin > done)
      span.begin = white_space_before(all, done, span.begin);
    if (token.strip_left) span.begin = std::max(span.begin, done);
    if (token.strip_right) span.end = white_space.after(span.end);
    // A token of white space that the token before it has taken.
    if (span.begin >= span.end) continue;
    add_text(done, span.begin);
    parts.push_back({{}, id});
    if (!text.alignments.empty()) parts.back().text = part_of(text, span);
    done = span.end;
  }
  add_text(done, all.size());
}

void AddedTokens::split_part(NormalizedText&& text, const Normalizer* normalizer, size_t& room,
                             const Accepts& accepts, const Accepts& accepts_normalized,
                             TextPieces& parts) const {
  TextPieces plain;
  split_at(*plain_, std::move(text), accepts, plain);
  for (TextPiece& piece : plain) {
    if (piece.token) {
      parts.push_back(std::move(piece));
      continue;
    }
    if (normalizer != nullptr) normalizer->apply(piece.text, room);
    room -= std::min(room, piece.text.text.size());
    split_at(*normalized_, std::move(piece.text), accepts_normalized, parts);
  }
}

std::vector<TextSpan> AddedTokens::spans_to_isolate(std::string_view text,
                                                    const Normalizer* normalizer,
                                                    const UntrustedParts& untrusted) const {
  std::vector<TextSpan> spans;
  if (normalized_->empty()) return spans;
  size_t longest = 0;
  for (const int32_t id : untrusted.control_tokens)
    if (const auto found = entries_.find(id); found != entries_.end())
      longest = std::max(longest, found->second.token.content.size());
  const Accepts is_control = [&](TextSpan, int32_t id) {
    return untrusted.control_tokens.contains(id);
  };
  const auto control_tokens = [&](size_t begin, size_t end) {
    const std::string part(text.substr(begin, end - begin));
    const std::string normalized = normalized_form(part, normalizer, max_text_size(part.size()));
    return find_matches(*normalized_, normalized, is_control).size();
  };
  for (const TextSpan span : untrusted.spans) {
    // With as much of its neighbours as a token may reach into.
    const size_t begin = code_point_begin(text, span.begin - std::min(span.begin, longest));
    size_t end = std::min(span.end + longest, text.size());
    while (end < text.size() && is_continuation(text[end])) ++end;
    if (control_tokens(begin, end) >
        control_tokens(begin, span.begin) + control_tokens(span.end, end))
      spans.push_back(span);
  }
  return spans;
}

TextPieces AddedTokens::split_aligned(std::string_view text, const Normalizer* normalizer) const {
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).length;
  NormalizedText whole{std::string(text), first};
  size_t position = 0;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view) {
    whole.alignments.resize(position + point.length, {position, position + point.length});
    position += point.length;
  });
  TextPieces parts;
  size_t room = max_text_size(text.size());
  split_part(std::move(whole), normalizer, room, {}, {}, parts);
  return parts;
}

TextPieces AddedTokens::split(std::string_view text, const Normalizer* normalizer,
                              const UntrustedParts* untrusted) const {
  TextPieces parts;
  size_t room = max_text_size(text.size());
  // at_start only has to tell which part holds the first code point.
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).length;
  if (untrusted == nullptr) {
    split_part({std::string(text), first}, normalizer, room, {}, {}, parts);
    return parts;
  }
  const auto is_control = [&](int32_t id) { return untrusted->control_tokens.contains(id); };
  const Accepts no_control = [&](TextSpan, int32_t id) { return !is_control(id); };
  size_t done = 0;
  const auto split_until = [&](size_t end, const Accepts& accepts, const Accepts& normalized) {
    if (done < end)
      split_part({std::string(text.substr(done, end - done)), done == 0 ? first : 0}, normalizer,
                 room, accepts, normalized, parts);
    done = end;
  };
  const Accepts trusted = [&](TextSpan span, int32_t id) {
    if (!is_control(id)) return true;
    // The first span that ends after the beginning of the match, whose bytes count from `done`.
    const auto next =
        std::ranges::upper_bound(untrusted->spans, done + span.begin, {}, &TextSpan::end);
    return next == untrusted->spans.end() || next->begin >= done + span.end;
  };
  // Normalising loses the places of bytes. So a span that holds a part of a control token
  // afterwards is split off its text; others keep their neighbours, with which pieces may join
  // them.
  for (const TextSpan span : spans_to_isolate(text, normalizer, *untrusted)) {
    split_until(span.begin, trusted, {});
    split_until(span.end, no_control, no_control);
  }
  split_until(text.size(), trusted, {});
  return parts;
}

std::optional<int32_t> AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<int32_t> AddedTokens::ids() const {
  std::vector<int32_t> ids;
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

const std::string* AddedTokens::piece(int32_t id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.token.content;
}

const std::string* AddedTokens::decoded_piece(int32_t id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.pattern;
}

bool AddedTokens::is_special(std::string_view piece) const {
  return special_.contains(std::string(piece));
}

}  // namespace heed::text
