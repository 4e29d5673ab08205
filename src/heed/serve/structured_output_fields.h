#pragma once

#include "heed/generation.h"
#include "heed/serve/json_fields.h"

namespace heed::serve {

/// What outputs must match: "response_format" as OpenAI has it ("json_object", "json_schema"), and
/// "structured_outputs" of vLLM with one of "json", "json_object", "regex", "choice" and "grammar",
/// which is GBNF if it has "::=", else Lark. Throws ApiError for both at once.
StructuredOutput read_structured_output(JsonFields& fields);

}  // namespace heed::serve
