#pragma once

#include <string>

#include "heed/chat.h"
#include "heed/model.h"

// What requests of chats leave to the model's files.
namespace heed::engine {

/// How a chat samples whose request says nothing of it: as generation_config.json says. If that
/// names no temperature, kChatTemperature; greedily if it has "do_sample": false, or settings of
/// sampling that heed does not apply. Other settings that `options` has stay as they are.
void set_chat_sampling(GenerateOptions& options, const Model& model);

/// The temperature of chats whose model names none.
inline constexpr float kChatTemperature = 0.7f;

/// Sets how much a model is to think ("low", "none") in the variables that its chat template has:
/// reasoning_effort; enable_thinking or thinking, which "none" makes false. What
/// chat_template_kwargs says stays. Returns whether the template has one of them.
bool set_reasoning_effort(ChatOptions& options, const std::string& effort, const Model& model);
/// Sets whether a model is to think at all, in enable_thinking or thinking. Returns likewise.
bool set_thinking(ChatOptions& options, bool thinking, const Model& model);

}  // namespace heed::engine
