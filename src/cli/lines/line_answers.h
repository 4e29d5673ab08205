#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed::cli {

/// What is printed for a line of standard input, and rows of numbers that are added up, each column
/// by itself, over all lines.
struct LineAnswer {
  LineAnswer() = default;
  LineAnswer(std::string printed, std::vector<double> numbers = {})
      : text(std::move(printed)), rows(std::move(numbers)) {}

  std::string text;          // with its line ends
  std::vector<double> rows;  // one after the other
};

/// Lines and the number of the first one, counted from 1.
struct NumberedLines {
  int64_t first = 1;
  std::vector<std::string> lines;
};

/// Appends the answers of the lines, in order; on Error, of some of them. An answer must not depend
/// on the other lines: how many there are depends on how fast they arrive.
using AnswerLines =
    std::function<void(const NumberedLines& lines, std::vector<LineAnswer>& answers)>;

/// `batch(lines, first)` returns one result for each line, `answer(result, number)` its LineAnswer.
template <typename Batch, typename Answer>
AnswerLines answer_in_batches(Batch batch, Answer answer) {
  return [=](const NumberedLines& lines, std::vector<LineAnswer>& answers) {
    auto results = batch(lines.lines, lines.first);
    for (size_t i = 0; i < results.size(); ++i)
      answers.emplace_back(answer(results[i], lines.first + static_cast<int64_t>(i)));
  };
}

/// `answer(line, number)` is the LineAnswer of a line. Its Errors get the number of the line.
template <typename Answer>
AnswerLines answer_one_by_one(Answer answer) {
  return [=](const NumberedLines& lines, std::vector<LineAnswer>& answers) {
    int64_t number = lines.first;
    for (const std::string& line : lines.lines) {
      name_input("line", number, [&] { answers.emplace_back(answer(line, number)); });
      ++number;
    }
  };
}

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

}  // namespace heed::cli
