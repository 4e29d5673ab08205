#pragma once

#include <string>

#include "heed/conversation.h"

namespace heed::cli {

/// The settings and their values, one per line, as /set prints them.
std::string settings_text(const ConversationOptions& options);

/// Sets what "NAME VALUE" says. Throws Error on an unknown name or a value out of range.
void apply_setting(ConversationOptions& options, const std::string& assignment);

}  // namespace heed::cli
