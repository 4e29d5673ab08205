#include "cli/options/sampling_options.h"

#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "cli/options/declared_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/generate/generate_options.h"

namespace heed::cli {
namespace {

using generate::GenerateOption, generate::StructuredOutputOption;

/// Parses "ID:BIAS"; nothing if it is malformed.
std::optional<TokenBias> parse_bias(const std::string& text) {
  TokenBias bias;
  const char* const end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.token);
  if (id.ec != std::errc() || id.ptr == end || *id.ptr != ':') return std::nullopt;
  const auto number = std::from_chars(id.ptr + 1, end, bias.bias);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  return bias;
}

}  // namespace

GenerateOptions SamplingArguments::options(uint64_t seed) const {
  GenerateOptions options = generate;
  for (const std::string& stop : options.stop) require_utf8(stop, "--stop");
  for (const std::string& text : logit_bias) options.logit_bias.push_back(*parse_bias(text));
  if (!json_schema.empty()) options.structured_output.json_schema = read_file(json_schema);
  if (!grammar.empty()) {
    const bool is_lark = std::filesystem::path(grammar).extension() == ".lark";
    (is_lark ? options.structured_output.lark : options.structured_output.gbnf) =
        read_file(grammar);
  }
  options.seed = seed;
  return options;
}

void add_structured_output_options(Command& command, SamplingArguments& arguments) {
  const OptionGroup group(command, "Form of the output");
  StructuredOutput& output = arguments.generate.structured_output;
  std::vector<Option> added{
      add_declared_value(command, StructuredOutputOption::json_schema, arguments.json_schema),
      add_declared_option(command, StructuredOutputOption::regex, output),
      command.add_option("--grammar", arguments.grammar,
                         "The output is derived by the grammar of this file: Lark's if its name "
                         "ends in .lark, else GBNF, llama.cpp's"),
      add_declared_option(command, StructuredOutputOption::choice, output).delimiter(',')};
  for (size_t i = 0; i < added.size(); ++i)
    for (size_t j = 0; j < i; ++j) added[i].excludes(added[j]);
  add_declared_option(command, StructuredOutputOption::json_white_space, output).needs(added[0]);
  add_declared_option(command, StructuredOutputOption::complete, output);
  add_declared_option(command, StructuredOutputOption::free_log_probabilities, output);
}

void prepare_output(const Model& model, const GenerateOptions& options) {
  const std::vector<std::string> ignored = model.prepare(options);
  if (!ignored.empty())
    print_warnings({fmt::format("these keywords of the JSON Schema assert nothing: {}",
                                fmt::join(ignored, ", "))});
}

void add_max_new_tokens(Command& command, SamplingArguments& arguments, const char* standard) {
  add_declared_option(command, GenerateOption::max_new_tokens, arguments.generate)
      .description(fmt::format("{} (default: {})", GenerateOption::max_new_tokens.help, standard));
  add_declared_option(command, GenerateOption::min_new_tokens, arguments.generate);
}

std::vector<Option> add_sampling_options(Command& command, SamplingArguments& arguments) {
  GenerateOptions& generate = arguments.generate;
  const OptionGroup group(command, "Sampling");
  std::vector<Option> added;
  const auto add = [&](Option option) { added.push_back(option); };
  add(add_declared_option(command, GenerateOption::sample, generate));
  generate::for_each_sampling_option(
      [&](const auto& option) { add(add_declared_option(command, option, generate)); });
  add(command
          .add_option("--" + spelling_of(GenerateOption::logit_bias), arguments.logit_bias,
                      std::string(GenerateOption::logit_bias.help))
          .check([](const std::string& text) {
            return parse_bias(text) ? std::string()
                                    : text + " is not of the form ID:BIAS, for example 12:-inf";
          }));
  add(add_declared_option(command, GenerateOption::stop, generate).not_empty());
  return added;
}

}  // namespace heed::cli
