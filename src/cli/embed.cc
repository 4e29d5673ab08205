#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/parallel.h"
#include "heed/generate/embedder.h"

namespace heed::cli {
namespace {

using generate::Pooling;

constexpr auto kPoolings = {Pooling::mean, Pooling::cls, Pooling::max, Pooling::pooler,
                            Pooling::last};

struct EmbedOptions {
  CommonOptions common;
  ModelOptions model;
  std::string pooling;
  bool normalize = false, no_normalize = false;
  std::optional<int64_t> max_seq_length;
  int64_t batch_tokens = generate::EmbedderOptions().batch_tokens;
};

generate::EmbedderOptions embedder_options(const EmbedOptions& options) {
  generate::EmbedderOptions result = generate::read_embedder_options(options.model.path);
  if (!options.pooling.empty()) result.pooling = named(options.pooling, kPoolings);
  result.normalize = (result.normalize || options.normalize) && !options.no_normalize;
  result.max_seq_length = options.max_seq_length.value_or(result.max_seq_length);
  result.batch_tokens = options.batch_tokens;
  return result;
}

/// Uses all threads, since formatting the numbers takes long.
std::vector<std::string> formatted(const std::vector<std::vector<float>>& embeddings) {
  std::vector<std::string> lines(embeddings.size());
  parallel_for(static_cast<int64_t>(lines.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      lines[i] = dump_json(nlohmann::json{{"embedding", embeddings[i]}});
  });
  return lines;
}

int run_embed(const EmbedOptions& options) {
  const Threads threads(options.common);
  PendingTokenizer pending(options.model);
  const auto model = load_model(options.model);
  const generate::Embedder embedder(*model, pending.get(*model), embedder_options(options));
  answer_lines([&](const std::vector<std::string>& lines,
                   int64_t first) { return formatted(embedder.embed(lines, first)); },
               [](const std::string& line, int64_t) { std::cout << line << '\n'; });
  return 0;
}

}  // namespace

void add_embed(Command& program) {
  Command command = program.add_subcommand(
      "embed", "Computes an embedding for each line of standard input, printed as a JSON object");
  auto options = std::make_shared<EmbedOptions>();
  add_model_options(command, options->model, false);
  std::vector<std::string> poolings;
  for (const Pooling pooling : kPoolings) poolings.emplace_back(name_of(pooling));
  command
      .add_option(
          "--pooling", options->pooling,
          "How the hidden states of the tokens become one vector (default: from modules.json, "
          "else mean)")
      .one_of(poolings);
  Option normalize = command.add_flag("--normalize", options->normalize,
                                      "Scale vectors to length 1 (default: from modules.json)");
  command.add_flag("--no-normalize", options->no_normalize, "Do not scale vectors")
      .excludes(normalize);
  command
      .add_option(
          "--max-seq-length", options->max_seq_length,
          "Truncate texts to this many tokens (default: from sentence_bert_config.json, else "
          "the model's context length)")
      .range(int64_t{1}, int64_t{1} << 30);
  command.add_renamed("--max-tokens", "--max-seq-length");
  command
      .add_option("--batch-tokens", options->batch_tokens,
                  "Tokens per batch; does not change results")
      .range(int64_t{1}, int64_t{1} << 30)
      .show_default();
  add_common_options(command, options->common);
  command.footer("Example:\n  echo 'A sentence.' | heed embed --model all-MiniLM-L6-v2");
  command.set_action([options] { return run_embed(*options); });
}

}  // namespace heed::cli
