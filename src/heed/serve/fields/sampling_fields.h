#pragma once

#include "heed/serve/services.h"

namespace heed::serve {

/// How outputs are generated, from the fields of OpenAI's API and those that other servers have
/// beside them (top_k, repetition_penalty, stop_token_ids, ...). Without a field, the model's own
/// defaults hold, as for `heed generate`. `min_tokens` is the smallest limit of an output. A
/// request without a seed has that of the server's options, else one of its own.
GenerateOptions read_sampling(const ModelCall& call, JsonFields& fields, int64_t min_tokens = 1);

/// The same for a chat, which samples as the model's files say where the request says nothing
/// (engine::set_chat_sampling).
GenerateOptions read_chat_sampling(const ModelCall& call, JsonFields& fields);

/// Whether tokens are sampled, so that the seed matters.
bool samples(const GenerateOptions& options);

/// With "ignore_eos", these tokens, which end an output, never follow.
void read_ignore_eos(JsonFields& fields, const std::vector<int32_t>& end_tokens,
                     GenerateOptions& options);

/// The strings that end an output, by the field `name`, which replaces another one. Throws ApiError
/// when there are too many.
void read_stop(JsonFields& fields, std::string_view name, GenerateOptions& options);

/// "n", the number of outputs for each prompt.
int64_t read_n(JsonFields& fields);

}  // namespace heed::serve
