#pragma once

#include <string>

#include "heed/chat.h"
#include "heed/generation.h"
#include "heed/serve/fields/chat_fields.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// "messages", "tools" and "think" of Ollama's API. Calls without an id get one, which the results
/// of tools repeat. Throws ApiError that names the field which is wrong.
ChatFields read_ollama_chat(const Model& model, JsonFields& fields);
/// "think": true, false, or how much. It is ignored without options, as where there is no chat.
void read_ollama_think(const Model& model, JsonFields& fields, ChatOptions* options);
/// "options", of a chat or of a text that is continued, and "format" (compiled); "keep_alive" is
/// without effect.
GenerateOptions read_ollama_options(const ModelCall& call, JsonFields& fields, bool chats);

/// This moment as "2026-11-28T03:45:12.123456789Z".
std::string ollama_time();

/// The name of a model without ":latest", which clients add, unless a model is named so.
std::string choose_ollama_model(const Services& services, const Json& body, std::string named);

}  // namespace heed::serve
