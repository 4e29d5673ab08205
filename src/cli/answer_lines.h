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

/// Flushes standard output. Throws Error when it cannot be written.
inline void flush_output() {
  std::cout.flush();
  require(std::cout.good(), "standard output cannot be written");
}

/// Answers a batch of lines for answer_lines(); `first` is the number of its first line.
template <typename Answer, typename Print>
void answer_batch(const std::vector<std::string>& lines, int64_t first, const Answer& answer,
                  const Print& print) {
  std::optional<decltype(answer(lines, first))> answers;
  try {
    answers = answer(lines, first);
  } catch (const Error&) {
    if (lines.size() == 1) throw;
  }
  if (!answers) {
    const auto half = static_cast<std::ptrdiff_t>(lines.size() / 2);
    answer_batch({lines.begin(), lines.begin() + half}, first, answer, print);
    answer_batch({lines.begin() + half, lines.end()}, first + half, answer, print);
    return;
  }
  for (size_t i = 0; i < lines.size(); ++i) print((*answers)[i], first + static_cast<int64_t>(i));
  flush_output();
}

/// Answers the lines of standard input in order. `answer(lines, first)` returns one answer for each
/// of `lines`, whose numbers begin at `first`, counted from 1; `print(answer, number)` prints it.
///
/// The size of a batch depends on how fast lines arrive, so an answer must not depend on the other
/// lines. When answer() throws an Error, the batch is answered again in halves, so that all lines
/// before the first invalid one are answered and printed before its Error is thrown.
template <typename Answer, typename Print>
void answer_lines(const Answer& answer, const Print& print) {
  LineStream lines;
  int64_t first = 1;
  for (std::vector<std::string> batch = lines.next(); !batch.empty(); batch = lines.next()) {
    answer_batch(batch, first, answer, print);
    first += static_cast<int64_t>(batch.size());
  }
}

/// Calls print(line, number) for each line of standard input. Prefixes its Errors with the
/// number of the line.
template <typename Print>
void for_each_line(const Print& print) {
  LineStream lines;
  int64_t number = 0;
  for (std::vector<std::string> batch = lines.next(); !batch.empty(); batch = lines.next()) {
    for (const std::string& line : batch)
      generate::name_input("line", ++number, [&] { print(line, number); });
    flush_output();
  }
}

}  // namespace heed::cli
