#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

/// `named`, and for roles that it lacks the tokens that Qwen2.5-Coder, StarCoder, CodeLlama,
/// DeepSeek-Coder, CodeGemma and others have; `find` knows the vocabulary. Without a prefix, suffix
/// or middle there are none.
FillInMiddleTokens with_usual_tokens(
    FillInMiddleTokens named,
    const std::function<std::optional<int32_t>(std::string_view piece)>& find);

/// A text with a gap.
struct TextWithGap {
  std::string prefix, suffix;  // before and after the gap; UTF-8
  std::string middle = {};     // the beginning of what belongs into it
  /// Names and texts of other files, which stand before it.
  std::vector<std::pair<std::string, std::string>> files = {};
};

/// The prompt after which a model writes what belongs into the gap: prefix, suffix, and the token
/// and the beginning of the middle. Special tokens within the texts are text. Throws InputError,
/// which says why, when the tokenizer lacks the tokens, and when there are files and it has no
/// token for them.
std::vector<int32_t> fill_in_middle_prompt(const Tokenizer& tokenizer, const TextWithGap& text);

}  // namespace heed::text
