#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::constrain {

/// The bytes of a tokenizer's tokens, arranged for computing masks. It can be used by several
/// threads.
class Vocabulary {
 public:
  /// bytes[id] are the bytes that token `id` appends to a text; empty for special tokens and for
  /// ids that stand for no token, which no constraint allows. `end_tokens` are allowed exactly
  /// where the text may end. Throws Error if an end token is not an id.
  static std::shared_ptr<const Vocabulary> of(std::vector<std::string> bytes,
                                              std::vector<int32_t> end_tokens);

  /// How many ids there are.
  int32_t size() const;
  /// Words of 64 bits that a mask has.
  size_t mask_words() const;
  std::string_view bytes(int32_t token) const;
  std::span<const int32_t> end_tokens() const;
};

}  // namespace heed::constrain
