#pragma once

#include <string>
#include <string_view>

#include "heed/serve/call.h"

namespace heed::serve {

/// The log line of a call that has ended: JSON with the time, the client, its program and the name
/// of its key, the route, the path, the model, the trace (trace_context.h), numbers of tokens,
/// seconds in the queue, to the first token and in all, and the error. Keywords of a JSON Schema
/// that assert nothing, if there are any. The body of the request only with `texts`.
std::string log_line(const Call& call, int status, bool texts);

/// The log line of what is not a request, or a larger one than the limits allow.
std::string refusal_line(const HttpRequest& request, int status, std::string_view error);

/// The log line of a model that was loaded onto a GPU, whose name is given.
std::string device_line(const std::string& model, const std::string& gpu);

/// The log line of a model whose files have settings without effect.
std::string warning_line(const std::string& model, const std::string& warning);

}  // namespace heed::serve
