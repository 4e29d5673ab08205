#pragma once

#include "cli/lines/line_processor.h"
#include "cli/lines/token_count.h"
#include "heed/chat.h"
#include "heed/generation.h"
#include "heed/model.h"

namespace heed::cli {

/// Answers each line of standard input, a conversation in JSON, with a line of JSON in the shape of
/// OpenAI's API.
TokenCount generate_chat(LineProcessor& processor, const Model& model,
                         const GenerateOptions& generate, const ChatOptions& options);

}  // namespace heed::cli
