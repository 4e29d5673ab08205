#pragma once

#include <string>

namespace heed::serve {

/// The bytes of a token as text, as OpenAI's API has it: valid UTF-8 as it is, else with \xF0 in
/// place of each byte beyond ASCII, behind `mark`.
std::string text_of_bytes(const std::string& bytes, const char* mark = "");

}  // namespace heed::serve
