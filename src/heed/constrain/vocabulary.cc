#include "heed/constrain/vocabulary.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/constrain/text_cover.h"

namespace heed::constrain {
namespace {

constexpr std::array<uint32_t, 3> kSliceCharacters = {10, 40, Expressions::kUnbounded};

// The code points of a text that a slice may hold; nothing if it holds others.
std::optional<size_t> slice_characters(std::string_view text) {
  size_t count = 0;
  bool fits = true;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view) {
    fits = fits && point.valid && is_slice_character(point.value);
    ++count;
  });
  return fits ? std::optional(count) : std::nullopt;
}

}  // namespace

std::string special_token_text(std::string_view piece) {
  const std::string mark(1, static_cast<char>(kSpecialMark));
  return mark + std::string(piece) + mark;
}

bool has_special_mark(std::string_view text) {
  return text.find(static_cast<char>(kSpecialMark)) != text.npos;
}

std::string_view text_before_special_token(std::string_view text) {
  return text.substr(0, text.find(static_cast<char>(kSpecialMark)));
}

std::shared_ptr<const Vocabulary> Vocabulary::of(std::vector<std::string> bytes,
                                                 std::vector<int32_t> end_tokens) {
  return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(bytes), std::move(end_tokens)));
}

Vocabulary::Vocabulary(std::vector<std::string> bytes, std::vector<int32_t> end_tokens)
    : bytes_(std::move(bytes)), end_tokens_(std::move(end_tokens)) {
  for (const int32_t token : end_tokens_) {
    require(token >= 0 && token < size(), "the end token {} is none of {} ids", token, size());
    bytes_[static_cast<size_t>(token)].clear();
  }
  for (const uint32_t characters : kSliceCharacters) {
    slices_.push_back({characters, std::vector<uint64_t>(mask_words()), {}});
  }
  std::vector<std::vector<uint32_t>> members(slices_.size() + 1);
  for (uint32_t token = 0; token < bytes_.size(); ++token) {
    const std::string& text = bytes_[token];
    if (text.empty()) continue;
    require(text.size() <= kMaxTokenBytes, "token {} has {} bytes, at most {} are supported", token,
            text.size(), kMaxTokenBytes);
    max_token_bytes_ = std::max(max_token_bytes_, text.size());
    for (const char byte : text) token_bytes_.add(static_cast<uint8_t>(byte));
    size_t slice = slices_.size();
    if (const std::optional<size_t> characters = slice_characters(text)) {
      for (slice = 0; slices_[slice].characters < *characters;) ++slice;
      slices_[slice].mask[token / 64] |= uint64_t{1} << (token % 64);
    }
    members[slice].push_back(token);
  }
  ByteSet used;
  for (const std::string& text : bytes_) {
    if (has_special_mark(text)) continue;
    for (const char byte : text) used.add(static_cast<uint8_t>(byte));
    if (text.size() == 1) single_bytes_.add(static_cast<uint8_t>(text[0]));
  }
  has_every_byte_ = used == single_bytes_;
  for (size_t i = 0; i < slices_.size(); ++i) slices_[i].trie = trie_of(members[i]);
  rest_ = trie_of(members.back());
}

std::optional<int32_t> Vocabulary::longest_token(std::string_view text) const {
  std::optional<int32_t> longest;
  size_t longest_size = 0;
  const auto search = [&](const TokenTrie& trie) {
    const std::vector<TokenTrie::Node>& nodes = trie.nodes;
    size_t end = nodes.size();
    for (size_t i = 0; i < end;) {
      const TokenTrie::Node& node = nodes[i];
      if (node.depth > text.size() || node.byte != static_cast<uint8_t>(text[node.depth - 1U])) {
        i += node.size;
        continue;
      }
      if (node.token != no_token() && node.depth > longest_size) {
        longest = static_cast<int32_t>(node.token);
        longest_size = node.depth;
      }
      end = i + node.size;
      ++i;
    }
  };
  for (const Slice& slice : slices_) search(slice.trie);
  search(rest_);
  return longest;
}

bool Vocabulary::is_end_token(int32_t token) const {
  return std::ranges::find(end_tokens_, token) != end_tokens_.end();
}

TokenTrie Vocabulary::trie_of(std::span<const uint32_t> tokens) {
  std::vector<uint32_t> sorted(tokens.begin(), tokens.end());
  std::ranges::stable_sort(sorted, {},
                           [&](uint32_t token) { return bytes(static_cast<int32_t>(token)); });
  TokenTrie trie;
  std::vector<TokenTrie::Node>& nodes = trie.nodes;
  std::vector<size_t> path;  // the nodes of the bytes of the last token
  std::string_view last;
  const auto leave_to = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back()) {
      nodes[path.back()].size = static_cast<uint32_t>(nodes.size() - path.back());
    }
  };
  for (const uint32_t token : sorted) {
    const std::string_view text = bytes(static_cast<int32_t>(token));
    if (text == last) {
      duplicates_.emplace_back(nodes[path.back()].token, token);
      continue;
    }
    const auto differs = std::ranges::mismatch(text, last).in1;
    leave_to(static_cast<size_t>(differs - text.begin()));
    for (size_t depth = path.size(); depth < text.size(); ++depth) {
      path.push_back(nodes.size());
      nodes.push_back({.token = no_token(),
                       .size = 0,
                       .depth = static_cast<uint16_t>(depth + 1),
                       .byte = static_cast<uint8_t>(text[depth])});
    }
    nodes.back().token = token;
    last = text;
  }
  leave_to(0);
  for (size_t byte = 0, node = 0; byte <= 256; ++byte) {
    while (node < nodes.size() && nodes[node].byte < byte) node += nodes[node].size;
    trie.begin[byte] = static_cast<uint32_t>(node);
  }
  return trie;
}

}  // namespace heed::constrain
