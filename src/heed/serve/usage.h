#pragma once

#include <cstdint>

#include "heed/serve/json_fields.h"

namespace heed::serve {

/// "usage" of an answer, as OpenAI has it.
inline Json usage_json(int64_t prompt_tokens) {
  return {{"prompt_tokens", prompt_tokens}, {"total_tokens", prompt_tokens}};
}
/// Of an answer that was generated.
inline Json usage_json(int64_t prompt_tokens, int64_t completion_tokens) {
  return {{"prompt_tokens", prompt_tokens},
          {"completion_tokens", completion_tokens},
          {"total_tokens", prompt_tokens + completion_tokens}};
}

}  // namespace heed::serve
