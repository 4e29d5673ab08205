#pragma once

#include <string_view>

#include "heed/chat.h"

namespace heed::chat {

/// The form in which a template writes the calls of earlier turns: the one that its model was
/// trained to write. hermes if it writes none.
ToolCallFormat tool_call_format(std::string_view template_source);

/// The marks around reasoning that a template knows.
struct ReasoningMarks {
  std::string_view begin, end;
};
/// Empty if it knows none.
ReasoningMarks reasoning_marks(std::string_view template_source);

}  // namespace heed::chat
