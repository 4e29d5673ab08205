#include "heed/hub/response_head.h"

#include <algorithm>
#include <charconv>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::hub {
namespace {

/// The number that `text` begins with.
std::optional<uint64_t> leading_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

/// The seconds until a used-up limit is renewed: RateLimit: "api";r=0;t=55
std::optional<uint64_t> renewal_of(std::string_view limit) {
  constexpr std::string_view kUsedUp = ";r=0;t=";
  const size_t at = limit.find(kUsedUp);
  return at == limit.npos ? std::nullopt : leading_number(limit.substr(at + kUsedUp.size()));
}

void read_field(ResponseHead& head, const std::string& name, std::string_view value) {
  const auto wait = [&head](std::optional<uint64_t> seconds) {
    constexpr uint64_t kDay = 86400;
    head.retry_after =
        std::max(head.retry_after, std::chrono::seconds(std::min(seconds.value_or(0), kDay)));
  };
  constexpr std::string_view kBytes = "bytes ";
  if (name == "content-length") head.length = leading_number(value);
  if (name == "content-range" && value.starts_with(kBytes))
    head.range_begin = leading_number(value.substr(kBytes.size()));
  if (name == "retry-after") wait(leading_number(value));
  if (name == "ratelimit") wait(renewal_of(value));
  if (name == "x-error-code") head.error_code = value;
  if (name == "x-error-message") head.error_message = value;
}

}  // namespace

std::string ResponseHead::text() const {
  const std::string why =
      error_message.empty() ? "" : fmt::format(" ({})", one_line(error_message));
  return fmt::format("HTTP status {}{}", status, why);
}

void read_head_line(ResponseHead& head, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    head = {};
    const size_t space = std::min(line.find(' '), line.size());
    const uint64_t status = leading_number(trimmed(line.substr(space))).value_or(0);
    head.status = status >= 100 && status <= 999 ? static_cast<int>(status) : 0;
    return;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  read_field(head, lower_case(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
}

}  // namespace heed::hub
