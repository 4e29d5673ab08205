#pragma once

#include "heed/model.h"
#include "heed/serve/json_fields.h"

namespace heed::serve {

/// How outputs are generated, from the fields of OpenAI's API and those that other servers have
/// beside them (top_k, repetition_penalty, stop_token_ids, ...). Without a field, the model's own
/// defaults hold, as for `heed generate`. `min_tokens` is the smallest limit of an output.
GenerateOptions read_sampling(JsonFields& fields, const Model& model, int64_t min_tokens = 1);

/// The strings that end an output, by the field `name`, which replaces another one. Throws ApiError
/// when there are too many.
void read_stop(JsonFields& fields, std::string_view name, GenerateOptions& options);

/// "n", the number of outputs for each prompt.
int64_t read_n(JsonFields& fields);

}  // namespace heed::serve
