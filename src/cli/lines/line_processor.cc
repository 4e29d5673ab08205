#include "cli/lines/line_processor.h"

#include <iostream>
#include <memory>
#include <optional>

#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/terminal/signals.h"
#include "heed/base/output_file.h"

namespace heed::cli {

constexpr const char* kLinesGroup = "Lines of input and output";

void add_input_options(Command& command, LineArguments& arguments) {
  const OptionGroup group(command, kLinesGroup);
  command
      .add_option("--input", arguments.input,
                  "Read this file instead of standard input, which MPICH's mpirun loses when it is "
                  "long")
      .not_empty();
  command
      .add_option("--rank-timeout", arguments.rank_timeout,
                  "Under mpirun, where ranks share the lines: seconds after which a rank that does "
                  "not answer is missing")
      .range(int64_t{1}, int64_t{86'400})
      .show_default();
}

void add_line_options(Command& command, LineArguments& arguments) {
  add_input_options(command, arguments);
  const OptionGroup group(command, kLinesGroup);
  command
      .add_option("--resume", arguments.resume,
                  "Write to this file instead of standard output. The same command with the same "
                  "input continues it after an interruption")
      .not_empty();
}

Option add_tensor_parallel_option(Command& command, LineArguments& arguments) {
  const OptionGroup group(command, kLinesGroup);
  return command.add_flag("--tensor-parallel", arguments.tensor_parallel,
                          "Under mpirun, divide the model among the ranks instead of the lines");
}

LineProcessor line_processor(const LineArguments& arguments) {
  leave_ranks_to_library();
  const auto stop = std::make_shared<std::optional<StopRequest>>();  // while lines are shared
  LineProcessor processor(
      {.read = [lines = TextLines()](std::string& line) mutable { return lines.next(line); },
       .write =
           [](const std::vector<LineAnswer>& answers) {
             for (const LineAnswer& answer : answers) std::cout << answer.text;
             flush_output();
           },
       .resume = arguments.resume,
       .rank_timeout = std::chrono::seconds(arguments.rank_timeout),
       .tensor_parallel = arguments.tensor_parallel,
       .on_sharing = [stop] { stop->emplace(); },
       .interrupted = [stop] { return *stop && (*stop)->requested(); }});
  if (processor.is_root() && !arguments.resume.empty())
    require_output_file("--resume", arguments.resume);
  if (processor.is_root() && !arguments.input.empty()) read_as_standard_input(arguments.input);
  return processor;
}

}  // namespace heed::cli
