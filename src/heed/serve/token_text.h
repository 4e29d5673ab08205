#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::serve {

/// The bytes of a token as text, as OpenAI's API has it: valid UTF-8 as it is, else with \xF0 in
/// place of each byte beyond ASCII, behind `mark`.
std::string text_of_bytes(const std::string& bytes, const char* mark = "");

/// The bytes as a list of numbers.
inline std::vector<uint8_t> byte_list(const std::string& bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace heed::serve
