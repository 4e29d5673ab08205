#pragma once

namespace heed::constrain {

/// The number of the next `digits` hexadecimal digits of a GrammarReader or a RegexReader. Throws
/// Error on another character, and at the end.
template <typename Reader>
char32_t read_hexadecimal(Reader& reader, int digits) {
  char32_t value = 0;
  for (; digits > 0; --digits) {
    const char32_t digit = reader.at_end() ? U' ' : reader.next();
    const char32_t lower = digit | 0x20;
    if (digit >= '0' && digit <= '9') {
      value = value * 16 + (digit - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + (lower - 'a' + 10);
    } else {
      reader.fail_here("expected a hexadecimal digit");
    }
  }
  return value;
}

}  // namespace heed::constrain
