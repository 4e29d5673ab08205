#include "heed/serve/operations/trace_context.h"

#include <algorithm>

namespace heed::serve {
namespace {

bool is_lower_hexadecimal(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

}  // namespace

std::optional<TraceContext> trace_context_of(const HttpRequest& request) {
  const std::string_view header = request.header("traceparent");
  // version-trace_id-parent_id-flags; later versions may have more fields.
  if (header.size() < 55 || header.size() > 512) return std::nullopt;
  const std::string_view version = header.substr(0, 2), trace = header.substr(3, 32),
                         parent = header.substr(36, 16), flags = header.substr(53, 2);
  for (const std::string_view part : {version, trace, parent, flags})
    if (!is_lower_hexadecimal(part)) return std::nullopt;
  if (header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return std::nullopt;
  if (header.size() > 55 && (version == "00" || header[55] != '-')) return std::nullopt;
  if (!std::ranges::all_of(header, [](char c) { return c > ' ' && c < 127; })) return std::nullopt;
  return TraceContext{header, trace, parent};
}

}  // namespace heed::serve
