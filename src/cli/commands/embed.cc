#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/base/json.h"
#include "heed/base/parallel.h"
#include "heed/model.h"
#include "heed/tasks/task_options.h"
#include "heed/tokenizer.h"

namespace heed::cli {
namespace {

using tasks::EmbedOption;

struct EmbedArguments {
  CommonOptions common;
  ModelOptions model;
  LineArguments lines;
  EmbedOptions embed;
  bool normalize = false, no_normalize = false;
  bool sparse = false, multi_vector = false;
};

nlohmann::json json_of(const std::vector<float>& embedding, const Tokenizer& /*tokenizer*/) {
  return {{"embedding", embedding}};
}

std::vector<std::string> pieces(const std::vector<int32_t>& tokens, const Tokenizer& tokenizer) {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens) pieces.push_back(token < tokenizer.vocab_size() ? tokenizer.token(token) : "");
  return pieces;
}

nlohmann::json json_of(const SparseEmbedding& embedding, const Tokenizer& tokenizer) {
  return {{"indices", embedding.indices},
          {"tokens", pieces(embedding.indices, tokenizer)},
          {"values", embedding.values}};
}

nlohmann::json json_of(const MultiVectorEmbedding& embedding, const Tokenizer& tokenizer) {
  nlohmann::json vectors = nlohmann::json::array();
  for (auto row = embedding.values.begin(); row != embedding.values.end();
       row += embedding.dimension)
    vectors.push_back(std::vector<float>(row, row + embedding.dimension));
  return {{"embeddings", std::move(vectors)}, {"tokens", pieces(embedding.tokens, tokenizer)}};
}

/// Uses all threads, since formatting the numbers takes long.
template <typename Embedding>
std::vector<std::string> formatted(const std::vector<Embedding>& embeddings, const Model& model) {
  const Tokenizer tokenizer = model.tokenizer("embedding");
  std::vector<std::string> lines(embeddings.size());
  parallel_for(static_cast<int64_t>(lines.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      lines[i] = dump_json(json_of(embeddings[i], tokenizer)) + '\n';
  });
  return lines;
}

std::vector<std::string> embedded(const EmbedArguments& arguments, const Model& model,
                                  const std::vector<std::string>& lines, int64_t first) {
  if (arguments.sparse) return formatted(model.embed_sparse(lines, arguments.embed, first), model);
  if (arguments.multi_vector)
    return formatted(model.embed_multi_vector(lines, arguments.embed, first), model);
  return formatted(model.embed_batch(lines, arguments.embed, first), model);
}

int run_embed(EmbedArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.normalize || arguments.no_normalize)
    arguments.embed.normalize = arguments.normalize;
  LineProcessor processor = line_processor(arguments.lines);
  const auto task = arguments.sparse         ? &ModelTasks::embed_sparse
                    : arguments.multi_vector ? &ModelTasks::embed_multi_vector
                                             : &ModelTasks::embed;
  const Model model = processor.load([&] { return load_model(arguments.model, threads, task); });
  processor.answer(model, answer_in_batches(
                              [&](const std::vector<std::string>& lines, int64_t first) {
                                return embedded(arguments, model, lines, first);
                              },
                              [](const std::string& line, int64_t) { return line; }));
  return 0;
}

}  // namespace

void add_embed(Command& program) {
  Command command = program.add_subcommand(
      "embed", "Computes an embedding for each line of standard input, printed as a JSON object");
  auto arguments = std::make_shared<EmbedArguments>();
  add_model_options(command, arguments->model);
  add_declared_option(command, EmbedOption::pooling, arguments->embed);
  Option normalize = add_declared_value(command, EmbedOption::normalize, arguments->normalize);
  command.add_flag("--no-normalize", arguments->no_normalize, "Do not scale vectors")
      .excludes(normalize);
  Option prompt = add_declared_option(command, EmbedOption::prompt, arguments->embed);
  add_declared_option(command, EmbedOption::prompt_name, arguments->embed).excludes(prompt);
  add_declared_option(command, EmbedOption::task, arguments->embed);
  add_declared_option(command, EmbedOption::dimensions, arguments->embed);
  Option sparse = command.add_flag(
      "--sparse", arguments->sparse,
      "Vectors over the vocabulary (SPLADE, BGE-M3): indices, tokens and values above zero");
  command
      .add_flag("--multi-vector", arguments->multi_vector,
                "A vector for each token (ColBERT, BGE-M3); --task says whether texts are queries")
      .excludes(sparse);
  add_declared_option(command, EmbedOption::max_seq_length, arguments->embed);
  command.add_renamed("--max-tokens", "--max-seq-length");
  add_declared_option(command, EmbedOption::batch_tokens, arguments->embed);
  add_line_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer("Example:\n  echo 'A sentence.' | heed embed --model all-MiniLM-L6-v2");
  command.set_action([arguments] { return run_embed(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
