#include "heed/serve/http/target.h"

#include <cstdint>

#include "heed/base/parse_number.h"

namespace heed::serve {

std::optional<std::string> percent_decoded(std::string_view text, bool plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const auto byte = parse_hexadecimal<uint8_t>(text.substr(i + 1, 2));
      if (!byte || i + 2 >= text.size()) return std::nullopt;
      decoded += static_cast<char>(*byte);
      i += 2;
    }
  }
  return decoded;
}

bool split_target(std::string_view target, std::string& path, std::string& query) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    target = slash == target.npos ? std::string_view("/") : target.substr(slash);
    break;
  }
  if (target != "*" && !target.starts_with('/')) return false;
  const size_t mark = target.find('?');
  query = mark == target.npos ? std::string() : std::string(target.substr(mark + 1));
  auto decoded = percent_decoded(target.substr(0, mark));
  if (!decoded) return false;
  path = std::move(*decoded);
  return true;
}

}  // namespace heed::serve
