#include "heed/serve/token_text.h"

#include <fmt/format.h>

#include "heed/base/utf8.h"

namespace heed::serve {

std::string text_of_bytes(const std::string& bytes, const char* mark) {
  if (is_valid_utf8(bytes)) return bytes;
  std::string text = mark;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80)
      text += c;
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return text;
}

}  // namespace heed::serve
