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

/// A field that is a text, a list of texts, a list of tokens or a list of lists of tokens.
std::vector<CountedPrompt> read_prompts(JsonFields& fields, std::string_view name,
                                        const Model& model);

}  // namespace heed::serve
