#pragma once

#include "heed/base/declared_option.h"
#include "heed/chat.h"

// How messages become a prompt, each option declared once, as those of generation
// (generate/generate_options.h).
namespace heed::chat {

// Of prompts that an answer follows. The command line takes names of files for tools and template.
#define HEED_ANSWER_OPTIONS(OPTION)                                                               \
  OPTION(tools, .help = "JSON file with the functions that the model may call, in OpenAI's form") \
  OPTION(tool_choice,                                                                             \
         .help =                                                                                  \
             "auto: the model decides whether to call a function; none: it is told of none; "     \
             "required: it must call one; or the name of the function that it must call")         \
  OPTION(parallel_tool_calls, .help = "Several calls in one answer")                              \
  OPTION(chat_template, .help = "Jinja file to use instead of the model's chat template")         \
  OPTION(chat_template_kwargs,                                                                    \
         .help =                                                                                  \
             "Further variables of the chat template as a JSON object, for example "              \
             "'{\"enable_thinking\": false}'")                                                    \
  OPTION(control_tokens_in_messages,                                                              \
         .help =                                                                                  \
             "Recognise control tokens such as <|im_end|> in the text of messages too; whoever "  \
             "writes a message can then pose as anyone")
#define HEED_CHAT_OPTIONS(OPTION) \
  HEED_ANSWER_OPTIONS(OPTION)     \
  OPTION(add_generation_prompt)

HEED_OPTION_TABLE(ChatOption, ChatOptions, HEED_CHAT_OPTIONS)

}  // namespace heed::chat
