#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/lines.h"

namespace heed::engine {

/// The answers of all lines before the first one that cannot be answered, and its error; "" if all
/// are answered.
struct Answers {
  std::vector<LineAnswer> answers;
  std::string error;
};

/// Answers the lines at once. After an Error that leaves some without an answer, they are answered
/// again in halves, so that no line before the invalid one is lost.
Answers answer_all(const NumberedLines& lines, const AnswerLines& answer);

/// For messages between ranks.
std::string to_bytes(const NumberedLines& lines);
NumberedLines lines_of(std::string_view bytes);
std::string to_bytes(const Answers& answers);
Answers answers_of(std::string_view bytes);

}  // namespace heed::engine
