#pragma once

#include <optional>
#include <string_view>

#include "heed/serve/http/message.h"

namespace heed::serve {

/// The header "traceparent" of a request: https://www.w3.org/TR/trace-context/
struct TraceContext {
  std::string_view header;     // as it was sent
  std::string_view trace_id;   // 32 hexadecimal digits
  std::string_view parent_id;  // 16: the client's span
};

/// Refers to the request. Nothing if it has no such header, or one that is malformed.
std::optional<TraceContext> trace_context_of(const HttpRequest& request);

}  // namespace heed::serve
