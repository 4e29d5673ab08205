#pragma once

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/line_stream.h"
#include "heed/base/error.h"
#include "heed/generate/input_error.h"

namespace heed::cli {

/// Makes printed lines visible now. Throws Error when standard output cannot be written.
inline void flush_output() {
  std::cout.flush();
  require(std::cout.good(), "standard output cannot be written");
}

/// Answers some of the lines for answer_lines(); the first has the number `first`.
template <typename Answer, typename Print>
void answer_some(const std::vector<std::string>& lines, int64_t first, const Answer& answer,
                 const Print& print) {
  std::optional<decltype(answer(lines, first))> answers;
  try {
    answers = answer(lines, first);
  } catch (const Error&) {
    if (lines.size() == 1) throw;
  }
  if (!answers) {
    const auto half = static_cast<std::ptrdiff_t>(lines.size() / 2);
    answer_some({lines.begin(), lines.begin() + half}, first, answer, print);
    answer_some({lines.begin() + half, lines.end()}, first + half, answer, print);
    return;
  }
  for (size_t i = 0; i < lines.size(); ++i) print((*answers)[i], first + static_cast<int64_t>(i));
  flush_output();
}

/// Answers the lines of standard input in order. `answer(lines, first)` returns one answer for each
/// of `lines`, the first of which has the number `first`, counted from 1; `print(answer, number)`
/// prints it.
///
/// How many lines are answered together depends on how fast they arrive, so an answer must not
/// depend on the lines beside it. When answer() throws an Error, the lines are answered again in
/// halves: all lines before the first that fails are printed, then its Error is thrown.
template <typename Answer, typename Print>
void answer_lines(const Answer& answer, const Print& print) {
  LineStream lines;
  int64_t first = 1;
  for (std::vector<std::string> some = lines.next(); !some.empty(); some = lines.next()) {
    answer_some(some, first, answer, print);
    first += static_cast<int64_t>(some.size());
  }
}

/// Calls print(line, number) for each line of standard input. An Error that it throws names the
/// line.
template <typename Print>
void for_each_line(const Print& print) {
  LineStream lines;
  int64_t number = 0;
  for (std::vector<std::string> some = lines.next(); !some.empty(); some = lines.next()) {
    for (const std::string& line : some)
      generate::name_input("line", ++number, [&] { print(line, number); });
    flush_output();
  }
}

}  // namespace heed::cli
