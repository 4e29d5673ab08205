#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heed/serve/fields/json_fields.h"

namespace heed::serve {

/// A field of generation that other servers have and heed does not, and what may stand in it.
struct NeutralField {
  std::string_view name;
  /// The values, as JSON, with which it asks for nothing; empty: it never changes an answer.
  std::vector<std::string_view> values = {};
};

/// The fields of OpenAI's API, vLLM and llama.cpp's server that may be given and have no effect.
std::span<const NeutralField> neutral_fields();

/// Reads them. Throws ApiError when one has a value that would change the answer.
void read_neutral_fields(JsonFields& fields);

}  // namespace heed::serve
