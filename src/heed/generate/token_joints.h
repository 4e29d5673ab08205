#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

/// Between which tokens of a target vocabulary no word ends.
class TokenJoints {
 public:
  explicit TokenJoints(const text::TranslationTokenizer& tokenizer);
  /// Of tokens that begin, or end, inside of a word.
  TokenJoints(std::vector<bool> begins_inside, std::vector<bool> ends_inside)
      : begins_inside_(std::move(begins_inside)), ends_inside_(std::move(ends_inside)) {}

  /// Whether a word (text::is_in_spaced_word()) reaches from the end of `before` into `token`.
  bool joins(int32_t before, int32_t token) const {
    return ends_inside_[static_cast<size_t>(before)] && begins_inside(token);
  }
  /// Whether `token` continues a word if one stands before it.
  bool begins_inside(int32_t token) const { return begins_inside_[static_cast<size_t>(token)]; }

 private:
  std::vector<bool> begins_inside_, ends_inside_;
};

}  // namespace heed::generate
