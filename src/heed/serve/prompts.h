#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model.h"
#include "heed/serve/json_fields.h"

namespace heed::serve {

/// Most probable tokens that are reported beside each token.
constexpr int64_t kMaxLogProbabilities = 20;

/// A text or tokens, and how many tokens it is.
struct CountedPrompt {
  Prompt prompt;
  int64_t tokens = 0;

  std::string text(const Model& model) const;
};

/// A field that is a text or a list of at most 2,048 texts.
std::vector<std::string> read_texts(JsonFields& fields, std::string_view name);

/// The number of tokens of a text. Throws ApiError, which names `field`, when the model's context
/// is shorter.
int64_t count_tokens(const Model& model, const std::string& text, const std::string& field);

/// A field that is a list of tokens of the model.
std::vector<int32_t> read_tokens(JsonFields& fields, std::string_view name, const Model& model);

/// A field that is a text, a list of texts, a list of tokens or a list of lists of tokens.
std::vector<CountedPrompt> read_prompts(JsonFields& fields, std::string_view name,
                                        const Model& model);

}  // namespace heed::serve
