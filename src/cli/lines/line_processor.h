#pragma once

#include <cstdint>
#include <string>

#include "cli/options/options.h"
#include "cli/ranks.h"
#include "heed/lines.h"

namespace heed::cli {

/// Options of the commands that answer standard input line by line.
struct LineArguments {
  std::string input, resume;
  int64_t rank_timeout = 60;     // seconds
  bool tensor_parallel = false;  // ranks share the model instead of the lines
};

/// Adds --input and --rank-timeout.
void add_input_options(Command& command, LineArguments& arguments);
/// Adds these and --resume.
void add_line_options(Command& command, LineArguments& arguments);
/// Adds --tensor-parallel.
Option add_tensor_parallel_option(Command& command, LineArguments& arguments);

/// Answers standard input, on standard output or in the file of --resume. Joins the ranks, and
/// opens LineArguments::input as standard input. While ranks share lines, signals only ask them to
/// end.
LineProcessor line_processor(const LineArguments& arguments);

}  // namespace heed::cli
