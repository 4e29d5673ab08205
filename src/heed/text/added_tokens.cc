#include "heed/text/added_tokens.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/pre_tokenizers/split_text.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

std::string normalized_form(const std::string& content, const Normalizer* normalizer) {
  NormalizedText text{content, content.size()};
  if (normalizer != nullptr) normalizer->apply(text);
  return text.text;
}

/// The code point before byte `end`, and where it begins.
CodePoint code_point_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
  return code_point_at(text, begin);
}

bool stands_alone(std::string_view text, TextSpan span) {
  const bool before = span.begin > 0 && is_word(code_point_before(text, span.begin).value);
  const bool after = span.end < text.size() && is_word(code_point_at(text, span.end).value);
  return !before && !after;
}

size_t white_space_before(std::string_view text, size_t end) {
  while (end > 0 && is_white_space(code_point_before(text, end).value))
    end -= code_point_before(text, end).length;
  return end;
}

size_t white_space_after(std::string_view text, size_t begin) {
  while (begin < text.size() && is_white_space(code_point_at(text, begin).value))
    begin += code_point_at(text, begin).length;
  return begin;
}

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
                         const Normalizer* normalizer) {
  int32_t next = vocabulary.count();
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    auto id = find(token.content);
    if (!id) id = vocabulary.find(token.content);
    if (!id) id = next++;
    const auto pattern =
        token.normalized ? normalized_form(token.content, normalizer) : token.content;
    ids_[token.content] = *id;
    entries_[*id] = {token, pattern};
    if (token.special) special_.insert(token.content);
    end_ = std::max(end_, *id + 1);
  }
  build(plain_, false);
  build(normalized_, true);
}

void AddedTokens::build(Patterns& patterns, bool normalized) {
  for (const auto& [id, entry] : entries_)
    if (entry.token.normalized == normalized && !entry.pattern.empty())
      patterns.vocabulary.add(entry.pattern, id);
  if (patterns.vocabulary.count() > 0)
    patterns.trie = std::make_unique<PieceTrie>(patterns.vocabulary);
}

void AddedTokens::cut_at(const Patterns& patterns, NormalizedText&& text, TextPieces& parts) const {
  if (!patterns.trie) {
    if (!text.text.empty()) parts.push_back({std::move(text), std::nullopt});
    return;
  }
  const std::string_view all = text.text;
  const auto add_text = [&](size_t begin, size_t end) {
    if (begin < end) parts.push_back({part_of(text, {begin, end}), std::nullopt});
  };
  size_t done = 0;
  for (size_t position = 0; position < all.size();) {
    TextSpan match{position, position};
    int32_t id = -1;
    patterns.trie->for_each_prefix(all.substr(position), [&](size_t size, int32_t found) {
      match.end = position + size;
      id = found;
    });
    position = std::max(match.end, position + 1);
    if (id < 0) continue;
    const AddedToken& token = entries_.at(id).token;
    if (token.single_word && !stands_alone(all, match)) continue;
    if (token.strip_left) match.begin = std::max(white_space_before(all, match.begin), done);
    if (token.strip_right) match.end = white_space_after(all, match.end);
    add_text(done, match.begin);
    parts.push_back({{}, id});
    done = match.end;
  }
  add_text(done, all.size());
}

TextPieces AddedTokens::cut(std::string_view text, const Normalizer* normalizer) const {
  TextPieces plain, parts;
  // That the first code point is the beginning of the text is all that must be known of it.
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).length;
  cut_at(plain_, {std::string(text), first}, plain);
  for (TextPiece& piece : plain) {
    if (piece.token) {
      parts.push_back(std::move(piece));
      continue;
    }
    if (normalizer != nullptr) normalizer->apply(piece.text);
    cut_at(normalized_, std::move(piece.text), parts);
  }
  return parts;
}

std::optional<int32_t> AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
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
