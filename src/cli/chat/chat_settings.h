#pragma once

#include <string>

#include "heed/conversation.h"

namespace heed::cli {

/// What /set without an argument prints: each setting and its value, one per line.
std::string settings_text(const ConversationOptions& options);

/// Sets what "NAME VALUE" says. Throws Error on an unknown name or a value out of range.
void apply_setting(ConversationOptions& options, const std::string& assignment);

}  // namespace heed::cli
