#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/options/command.h"
#include "cli/options/model_options.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/parallel.h"
#include "heed/model.h"

namespace heed::cli {
namespace {

constexpr auto kPoolings = {Pooling::mean, Pooling::cls, Pooling::max, Pooling::pooler,
                            Pooling::last};

struct EmbedArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  EmbedOptions embed;
  bool normalize = false, no_normalize = false;
};

/// Uses all threads, since formatting the numbers takes long.
std::vector<std::string> formatted(const std::vector<std::vector<float>>& embeddings) {
  std::vector<std::string> lines(embeddings.size());
  parallel_for(static_cast<int64_t>(lines.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      lines[i] = dump_json(nlohmann::json{{"embedding", embeddings[i]}}) + '\n';
  });
  return lines;
}

int run_embed(EmbedArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.normalize || arguments.no_normalize)
    arguments.embed.normalize = arguments.normalize;
  LineProcessor processor = line_processor(arguments.lines);
  const Model model = processor.load([&] { return load_model(arguments.model, threads); });
  processor.answer(model, answer_in_batches(
                              [&](const std::vector<std::string>& lines, int64_t first) {
                                return formatted(model.embed_batch(lines, arguments.embed, first));
                              },
                              [](const std::string& line, int64_t) { return line; }));
  return 0;
}

}  // namespace

void add_embed(Command& program) {
  Command command = program.add_subcommand(
      "embed", "Computes an embedding for each line of standard input, printed as a JSON object");
  auto arguments = std::make_shared<EmbedArguments>();
  add_model_options(command, arguments->model, false);
  std::vector<std::string> poolings;
  for (const Pooling pooling : kPoolings) poolings.emplace_back(name_of(pooling));
  command
      .add_callback(
          "--pooling",
          [arguments](const std::string& name) {
            arguments->embed.pooling = named(name, kPoolings);
          },
          "How the hidden states of the tokens become one vector (default: from modules.json; "
          "without it last for a causal language model, else mean)")
      .one_of(poolings);
  Option normalize = command.add_flag("--normalize", arguments->normalize,
                                      "Scale vectors to length 1 (default: from modules.json)");
  command.add_flag("--no-normalize", arguments->no_normalize, "Do not scale vectors")
      .excludes(normalize);
  command
      .add_option(
          "--max-seq-length", arguments->embed.max_seq_length,
          "Truncate texts to this many tokens (default: max_seq_length of "
          "sentence_bert_config.json, else model_max_length of tokenizer_config.json, else the "
          "model's context length)")
      .range(int64_t{1}, int64_t{1} << 30);
  command.add_renamed("--max-tokens", "--max-seq-length");
  command
      .add_option("--batch-tokens", arguments->embed.batch_tokens,
                  "Tokens per batch; does not change results")
      .range(int64_t{1}, int64_t{1} << 30)
      .show_default();
  add_line_options(command, arguments->lines);
  add_common_options(command, arguments->common);
  command.footer("Example:\n  echo 'A sentence.' | heed embed --model all-MiniLM-L6-v2");
  command.set_action([arguments] { return run_embed(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
