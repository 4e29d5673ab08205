#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model.h"
#include "heed/serve/fields/json_fields.h"
#include "heed/text/fill_in_middle.h"

namespace heed::serve {

/// The tokens of a text; or tokens, without a text.
struct TokenizedText {
  std::vector<int32_t> tokens;
  std::optional<std::string> text = {};
};

/// Texts of one request.
inline constexpr size_t kMaxTexts = 2048;

/// Throws ApiError, which names the field, unless a list has 1 to 2,048 elements.
void check_list_length(size_t count, const std::string& field);

/// A field that is a text or a list of at most 2,048 texts.
std::vector<std::string> read_texts(JsonFields& fields, std::string_view name);

/// Throws ApiError, which names `field`, when the beginning of a long text alone has more tokens
/// than the model's context holds: before the whole text is read.
void refuse_overlong_text(const Model& model, std::string_view text, const std::string& field);

/// The number of tokens of a text. Throws ApiError, which names `field`, when the model's context
/// is shorter.
int64_t count_tokens(const Model& model, const std::string& text, const std::string& field);

/// A field that is a list of tokens of the model.
std::vector<int32_t> read_tokens(JsonFields& fields, std::string_view name, const Model& model);

/// A field that is a text, a list of texts, a list of tokens or a list of lists of tokens, at most
/// 2,048; `tokenize` may be called by several threads.
std::vector<TokenizedText> read_texts_or_tokens(
    JsonFields& fields, std::string_view name, const Model& model,
    const std::function<std::vector<int32_t>(const std::string& text, const std::string& field)>&
        tokenize);

/// "truncate_prompt_tokens" of vLLM: how many tokens of a prompt are kept; -1: those that leave
/// room for one in the context. Nothing: all.
std::optional<int64_t> read_kept_tokens(JsonFields& fields, const Model& model);
/// Cuts the beginning of a prompt. Returns whether it was longer than that.
bool keep_last_tokens(std::vector<int32_t>& tokens, int64_t count);

/// The tokens of a prompt after which the model writes what belongs into the gap. Throws ApiError,
/// which names `field`, when its tokenizer has no tokens for that, and on far too long texts.
std::vector<int32_t> fill_in_middle_tokens(const Model& model, const text::TextWithGap& text,
                                           const std::string& field);

}  // namespace heed::serve
