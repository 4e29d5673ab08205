#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/constrain/byte_set.h"

namespace heed::constrain {

/// A byte that is no part of UTF-8: only special tokens have it.
inline constexpr uint8_t kSpecialMark = 0xFF;
/// What a special token, such as "<|im_end|>", appends to a text that a grammar describes: its
/// piece between two such bytes, so that no other tokens spell it.
std::string special_token_text(std::string_view piece);
/// Whether a text has a byte that only special tokens may have.
bool has_special_mark(std::string_view text);
/// What precedes the first special token of a text.
std::string_view text_before_special_token(std::string_view text);

/// The bytes of some tokens as a tree, each node before its children: a walk that leaves out what
/// is not allowed goes through the nodes from front to back.
struct TokenTrie {
  struct Node {
    uint32_t token;  // that ends here; Vocabulary::no_token() if none does
    uint32_t size;   // nodes of its subtree, itself included
    uint16_t depth;  // bytes from the root, which is not stored: 1 and above
    uint8_t byte;
  };
  std::vector<Node> nodes;
  /// The nodes of tokens that begin with a byte: from begin[byte] to begin[byte + 1].
  std::array<uint32_t, 257> begin = {};
};

/// The bytes of a tokenizer's tokens, arranged for computing masks. It can be used by several
/// threads.
class Vocabulary {
 public:
  /// Tokens that are texts of at most `characters` code points, as they stand unescaped in a JSON
  /// string: neither quotes nor backslashes nor control characters. Where any such text may
  /// follow, the mask is known without a walk. A token belongs to the first slice that it can
  /// belong to.
  struct Slice {
    uint32_t characters;  // the limit
    std::vector<uint64_t> mask;
    TokenTrie trie;
  };
  static constexpr size_t kMaxTokenBytes = 60000;

  /// bytes[id] are the bytes that token `id` appends to a text; empty for special tokens and for
  /// ids that stand for no token, which no constraint allows. `end_tokens` are allowed exactly
  /// where the text may end. Throws Error if an end token is not an id, or a token is longer than
  /// kMaxTokenBytes.
  static std::shared_ptr<const Vocabulary> of(std::vector<std::string> bytes,
                                              std::vector<int32_t> end_tokens);

  /// How many ids there are.
  int32_t size() const { return static_cast<int32_t>(bytes_.size()); }
  /// Words of 64 bits that a mask has.
  size_t mask_words() const { return (bytes_.size() + 63) / 64; }
  std::string_view bytes(int32_t token) const { return bytes_[static_cast<size_t>(token)]; }
  std::span<const int32_t> end_tokens() const { return end_tokens_; }
  bool is_end_token(int32_t token) const;

  /// Stands for no token in a trie: bit 0 of the word behind a mask.
  uint32_t no_token() const { return static_cast<uint32_t>(mask_words() * 64); }
  std::span<const Slice> slices() const { return slices_; }
  /// The tokens that belong to no slice.
  const TokenTrie& rest() const { return rest_; }
  /// Tokens with the bytes of another: pairs of the one that a trie holds and the other.
  std::span<const std::pair<uint32_t, uint32_t>> duplicates() const { return duplicates_; }
  size_t max_token_bytes() const { return max_token_bytes_; }
  /// The token of the most bytes with which a text begins; nothing if there is none.
  std::optional<int32_t> longest_token(std::string_view text) const;
  /// Whether each byte of a token that is not special is a token, too: that many tokens can spell
  /// any text that these spell.
  bool has_every_byte() const { return has_every_byte_; }
  /// The bytes that tokens hold, and those that are a token alone.
  const ByteSet& token_bytes() const { return token_bytes_; }
  const ByteSet& single_bytes() const { return single_bytes_; }

 private:
  Vocabulary(std::vector<std::string> bytes, std::vector<int32_t> end_tokens);
  TokenTrie trie_of(std::span<const uint32_t> tokens);

  std::vector<std::string> bytes_;
  std::vector<int32_t> end_tokens_;
  std::vector<Slice> slices_;
  TokenTrie rest_;
  std::vector<std::pair<uint32_t, uint32_t>> duplicates_;
  size_t max_token_bytes_ = 0;
  bool has_every_byte_ = false;
  ByteSet token_bytes_, single_bytes_;
};

}  // namespace heed::constrain
