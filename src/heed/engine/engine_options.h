#pragma once

#include "heed/attention_drawing.h"
#include "heed/base/declared_option.h"
#include "heed/conversation.h"
#include "heed/session.h"

// The options of sessions, their requests, conversations and drawings of attention, each declared
// once, as those of generation (generate/generate_options.h).
namespace heed::engine {

#define HEED_SESSION_OPTIONS(OPTION)                         \
  OPTION(max_active_tokens, .range = {1, kMaxBatchTokens})   \
  OPTION(max_active_requests, .range = {0, kMaxBatchTokens}) \
  OPTION(max_prefill_tokens, .range = {1, kMaxBatchTokens})  \
  OPTION(max_cached_tokens, .range = {0, kMaxBatchTokens})   \
  OPTION(reserved_tokens, .range = {0, kMaxBatchTokens})     \
  OPTION(balance_prefill)

// Beside these a Request has a prompt and the options of its generation or its search.
#define HEED_REQUEST_OPTIONS(OPTION) \
  OPTION(source_language)            \
  OPTION(target_language)            \
  OPTION(alignments)                 \
  OPTION(confidence)                 \
  OPTION(adapters)                   \
  OPTION(number)

// Beside these ConversationOptions has GenerateOptions and ChatOptions.
#define HEED_CONVERSATION_OPTIONS(OPTION)                                                       \
  OPTION(context, .help = "Tokens that a conversation may have (default: the model's context)", \
         .typed = {1, kMaxTyped})                                                               \
  OPTION(when_full, .help = "When the context is full: stop, or drop the oldest messages")

// Beside these AttentionDrawingOptions has AttentionOptions. The terminal says columns and color.
#define HEED_DRAWING_OPTIONS(OPTION)                                     \
  OPTION(model_name)                                                     \
  OPTION(heatmap, .help = "Draw the .svg as a heatmap instead of lines") \
  OPTION(columns)                                                        \
  OPTION(color)

HEED_OPTION_TABLE(SessionOption, SessionOptions, HEED_SESSION_OPTIONS)
HEED_OPTION_TABLE(RequestOption, Request, HEED_REQUEST_OPTIONS)
HEED_OPTION_TABLE(ConversationOption, ConversationOptions, HEED_CONVERSATION_OPTIONS)
HEED_OPTION_TABLE(DrawingOption, AttentionDrawingOptions, HEED_DRAWING_OPTIONS)

}  // namespace heed::engine
