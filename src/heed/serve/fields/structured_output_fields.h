#pragma once

#include "heed/generation.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// What outputs must match, by one of these fields, compiled:
///   - "response_format" as OpenAI has it ("text", "json_object", "json_schema");
///   - "structured_outputs" of vLLM, and its older "guided_json", "guided_regex", "guided_choice"
///     and "guided_grammar";
///   - "grammar" and "json_schema" of llama.cpp's server.
/// A grammar is GBNF if it has "::=", else Lark. Keywords of a schema that assert nothing are noted
/// in the log line of the call. Throws ApiError that names two fields if both are given, and the
/// field of what cannot be enforced.
StructuredOutput read_structured_output(const ModelCall& call, JsonFields& fields);

/// The same by a JSON Schema, which `field` has.
StructuredOutput output_of_schema(const ModelCall& call, const Json& schema,
                                  const std::string& field);

/// The same by "text" of OpenAI's responses.
struct TextFormat {
  StructuredOutput output;
  Json format;  // as the response repeats it
};
TextFormat read_text_format(const ModelCall& call, JsonFields& fields);

}  // namespace heed::serve
