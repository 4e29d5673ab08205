#include "heed/shortlist.h"

#include <fmt/format.h>

#include <memory>

#include "cli/find_model.h"
#include "cli/options/command.h"

namespace heed::cli {
namespace {

struct ShortlistArguments {
  CommonOptions common;
  std::string model, out;
  std::string source, target, alignments;
  ShortlistOptions options;
};

int run_shortlist(const ShortlistArguments& arguments) {
  const Threads threads(arguments.common);
  ShortlistOptions options = arguments.options;
  options.source = arguments.source;
  options.target = arguments.target;
  options.alignments = arguments.alignments;
  options.executor = threads.executor();
  const ShortlistResult result =
      make_shortlist(find_model(arguments.model, {.weights = false}), arguments.out, options);
  fmt::print(
      "{}: {} lines from {} pairs; a source has {:.0f} of {} tokens, which are {:.2f}% of those "
      "of its translation\n",
      arguments.out, result.entries, result.pairs, result.mean_tokens, result.vocab_size,
      100 * result.coverage);
  return 0;
}

}  // namespace

void add_shortlist(Command& program) {
  Command command = program.add_subcommand(
      "shortlist",
      "Makes a lexical shortlist of a translator, which heed translate is faster with");
  auto arguments = std::make_shared<ShortlistArguments>();
  ShortlistOptions& options = arguments->options;
  command.add_option("model,--model", arguments->model, kModelHelp).names_model().required();
  command.add_option("--source", arguments->source, "Sentences, such as those of the training")
      .existing_file()
      .required();
  command.add_option("--target", arguments->target, "Their translations, line by line")
      .existing_file()
      .required();
  command
      .add_option("--alignments", arguments->alignments,
                  "Links of their words, as 0-0 1-2 (default: found by IBM Model 1)")
      .existing_file();
  command.add_option("--out", arguments->out, "New file, as Marian's lex.s2t").required();
  command.add_option("--best", options.best, "Target tokens of each source token, at most")
      .range(1, 100)
      .show_default();
  command
      .add_option("--frequent", options.frequent,
                  "The most frequent target tokens, which every translation may have")
      .range(1, 100)
      .show_default();
  add_threads_option(command, arguments->common);
  command.footer(
      "Examples:\n"
      "  heed shortlist model --source train.en --target train.de --out lex.s2t\n"
      "  heed translate model --shortlist lex.s2t < in.txt");
  command.set_action([arguments] { return run_shortlist(*arguments); });
}

}  // namespace heed::cli
