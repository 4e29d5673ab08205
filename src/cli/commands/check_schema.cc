#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/json_schema.h"

namespace heed::cli {
namespace {

struct CheckSchemaArguments {
  std::string schema;
  std::vector<std::string> instances;
};

void print_verdict(const std::string& name, const std::string& verdict) {
  std::cout << printable(fmt::format("{}: {}", name, verdict)) << '\n';
}

/// Judges JSON texts by a schema and prints a line for each.
class InstanceChecker {
 public:
  explicit InstanceChecker(const JsonSchema& schema) : schema_(schema) {}

  void check(const std::string& name, const std::string& text) {
    const auto violation = schema_.violation(text);
    all_valid_ = all_valid_ && !violation;
    print_verdict(name, violation ? "invalid: " + *violation : "valid");
  }

  void check_lines_of_standard_input() {
    TextLines lines;
    std::string line;
    for (int64_t number = 1; lines.next(line); ++number)
      if (!line.empty()) check(fmt::format("line {}", number), line);
  }

  bool all_valid() const { return all_valid_; }

 private:
  const JsonSchema& schema_;
  bool all_valid_ = true;
};

int run_check_schema(const CheckSchemaArguments& arguments) {
  const std::string text = read_file(arguments.schema);
  std::optional<JsonSchema> schema;
  try {
    schema.emplace(text);
  } catch (const InputError& error) {
    print_verdict(arguments.schema, fmt::format("refused: {}", error.what()));
    return 1;
  }
  print_verdict(arguments.schema, "can be enforced");
  if (!schema->ignored().empty())
    print_verdict(arguments.schema, fmt::format("ignored: {}", fmt::join(schema->ignored(), ", ")));
  InstanceChecker checker(*schema);
  for (const std::string& instance : arguments.instances) {
    if (instance == "-")
      checker.check_lines_of_standard_input();
    else
      checker.check(instance, read_file(instance));
  }
  return checker.all_valid() ? 0 : 1;
}

}  // namespace

void add_check_schema(Command& program) {
  Command command = program.add_subcommand(
      "check-schema", "Says whether a JSON Schema can be enforced, and which JSON texts it allows");
  auto arguments = std::make_shared<CheckSchemaArguments>();
  command.add_option("schema", arguments->schema, "File of a JSON Schema, draft 4 to 2020-12")
      .required()
      .existing_file();
  command.add_option("instances", arguments->instances,
                     "Files of one JSON text each; -: standard input, a text a line");
  command.footer(
      "Examples:\n"
      "  heed check-schema cat.json\n"
      "  heed check-schema cat.json felix.json tom.json\n"
      "  heed check-schema cat.json - < cats.jsonl\n"
      "Prints what cannot be enforced, by its keyword and JSON pointer, keywords that assert\n"
      "nothing, and for each text \"valid\" or why it is not. The exit status is 0 if the schema\n"
      "can be enforced and every text is valid, else 1.");
  command.set_action([arguments] { return run_check_schema(*arguments); });
}

}  // namespace heed::cli
