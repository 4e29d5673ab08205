#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lines/line_processor.h"
#include "cli/lines/output.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/options/model_options.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/parallel.h"
#include "heed/embedding_precision.h"
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
  bool sparse = false, multi_vector = false, window_vectors = false;
  std::string format = "json", ranges;
  EmbedPrecision precision = EmbedPrecision::float32;

  bool scales() const {
    return precision == EmbedPrecision::int8 || precision == EmbedPrecision::uint8;
  }
  /// Whether nothing can be written before all lines are embedded.
  bool needs_all() const { return format != "json" || scales(); }
};

/// The numbers of a row as JSON has them.
nlohmann::json numbers_of(const QuantizedEmbeddings& embeddings, int64_t row) {
  const auto columns = static_cast<size_t>(embeddings.columns);
  const size_t size = embeddings.bytes.size() / static_cast<size_t>(embeddings.rows);
  const std::byte* const bytes = embeddings.bytes.data() + static_cast<size_t>(row) * size;
  if (embeddings.precision == EmbedPrecision::float32) {
    std::vector<float> numbers(columns);
    std::memcpy(numbers.data(), bytes, size);
    return numbers;
  }
  if (embeddings.precision == EmbedPrecision::bfloat16) {
    std::vector<float> numbers(columns);
    for (size_t i = 0; i < columns; ++i)  // the upper half of an f32
      std::memcpy(reinterpret_cast<std::byte*>(&numbers[i]) + 2, bytes + 2 * i, 2);
    return numbers;
  }
  if (embeddings.precision == EmbedPrecision::int8 ||
      embeddings.precision == EmbedPrecision::binary)
    return std::vector<int8_t>(reinterpret_cast<const int8_t*>(bytes),
                               reinterpret_cast<const int8_t*>(bytes) + size);
  return std::vector<uint8_t>(reinterpret_cast<const uint8_t*>(bytes),
                              reinterpret_cast<const uint8_t*>(bytes) + size);
}

std::string line_of(const QuantizedEmbeddings& embeddings, int64_t row) {
  return dump_json(nlohmann::json{{"embedding", numbers_of(embeddings, row)}}) + '\n';
}

std::vector<std::string> pieces(const std::vector<int32_t>& tokens, const Tokenizer& tokenizer) {
  std::vector<std::string> pieces;
  for (const int32_t token : tokens)
    pieces.push_back(token < tokenizer.vocab_size() ? tokenizer.token(token) : "");
  return pieces;
}

nlohmann::json json_of(const SparseEmbedding& embedding, const Tokenizer& tokenizer) {
  return {{"indices", embedding.indices},
          {"tokens", pieces(embedding.indices, tokenizer)},
          {"values", embedding.values}};
}

nlohmann::json json_of(const std::vector<WindowEmbedding>& windows,
                       const Tokenizer& /*tokenizer*/) {
  nlohmann::json list = nlohmann::json::array();
  for (const WindowEmbedding& window : windows)
    list.push_back({{"embedding", window.vector},
                    {"start", window.start},
                    {"end", window.end},
                    {"tokens", window.tokens}});
  return {{"windows", std::move(list)}};
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
  if (arguments.window_vectors)
    return formatted(model.embed_windows(lines, arguments.embed, first), model);
  const auto vectors = model.embed_batch(lines, arguments.embed, first);
  std::vector<std::string> written(vectors.size());
  parallel_for(std::ssize(written), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      written[i] =
          line_of(quantize_embeddings(vectors[i], std::ssize(vectors[i]), arguments.precision), 0);
  });
  return written;
}

/// Writes the vectors of all lines at once.
void write_all(LineProcessor& processor, const Model& model, const EmbedArguments& arguments) {
  const auto collected = processor.collect(
      model, answer_in_batches(
                 [&](const std::vector<std::string>& lines, int64_t first) {
                   return model.embed_batch(lines, arguments.embed, first);
                 },
                 [](const std::vector<float>& vector, int64_t) {
                   return LineAnswer(std::string(reinterpret_cast<const char*>(vector.data()),
                                                 vector.size() * sizeof(float)));
                 }));
  const int64_t dimension = model.embedding_size(arguments.embed);
  std::vector<float> vectors(collected.size() * static_cast<size_t>(dimension));
  for (size_t i = 0; i < collected.size(); ++i)
    std::memcpy(vectors.data() + i * static_cast<size_t>(dimension), collected[i].text.data(),
                collected[i].text.size());
  EmbeddingRanges ranges;
  if (!arguments.ranges.empty())
    ranges = read_embedding_ranges(arguments.ranges);
  else if (arguments.scales() && !vectors.empty())
    ranges = embedding_ranges(vectors, dimension);
  if (vectors.empty())
    ranges = {std::vector<float>(static_cast<size_t>(dimension)),
              std::vector<float>(static_cast<size_t>(dimension))};
  const auto embeddings = quantize_embeddings(vectors, dimension, arguments.precision, ranges);
  if (arguments.format == "npy")
    std::cout << npy_file_of(embeddings);
  else if (arguments.format == "safetensors")
    std::cout << safetensors_file_of(embeddings);
  else
    for (int64_t row = 0; row < embeddings.rows; ++row) std::cout << line_of(embeddings, row);
  flush_output();
}

void check(const EmbedArguments& arguments) {
  const bool others = arguments.sparse || arguments.multi_vector || arguments.window_vectors;
  require_input(
      !others || (arguments.format == "json" && arguments.precision == EmbedPrecision::float32),
      "--format and --precision are for one dense vector of a line, not for --sparse, "
      "--multi-vector and --window-vectors");
  require_input(!arguments.window_vectors || arguments.embed.window,
                "--window-vectors needs --window");
  require_input(arguments.ranges.empty() || arguments.scales(),
                "--ranges is for --precision int8 and uint8");
  require_input(!arguments.needs_all() || arguments.lines.resume.empty(),
                "--resume continues lines of JSON: --format npy and safetensors and --precision "
                "int8 and uint8 are written when all lines are read");
  require_input(arguments.format != "npy" || arguments.precision != EmbedPrecision::bfloat16,
                "numpy has no bfloat16: --format safetensors has");
}

int run_embed(EmbedArguments& arguments) {
  const Threads threads(arguments.common);
  if (arguments.normalize || arguments.no_normalize)
    arguments.embed.normalize = arguments.normalize;
  check(arguments);
  LineProcessor processor = line_processor(arguments.lines);
  const auto task = arguments.sparse         ? &ModelTasks::embed_sparse
                    : arguments.multi_vector ? &ModelTasks::embed_multi_vector
                                             : &ModelTasks::embed;
  const Model model = processor.load([&] { return load_model(arguments.model, threads, task); });
  if (arguments.needs_all()) {
    write_all(processor, model, arguments);
    return 0;
  }
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
  Option multi_vector =
      command
          .add_flag(
              "--multi-vector", arguments->multi_vector,
              "A vector for each token (ColBERT, BGE-M3); --task says whether texts are queries")
          .excludes(sparse);
  command
      .add_option("--format", arguments->format,
                  "json, one line for each line, or one file of all vectors: npy (numpy.load), "
                  "safetensors (default: json)")
      .one_of({"json", "npy", "safetensors"});
  std::vector<std::string> precisions;
  for (const EmbedPrecision one : enumerators<EmbedPrecision>())
    precisions.emplace_back(name_of(one));
  command
      .add_callback(
          "--precision",
          [arguments](const std::string& text) {
            arguments->precision = named(text, enumerators<EmbedPrecision>());
          },
          "The numbers of a vector, as quantize_embeddings of sentence-transformers makes them "
          "(default: float32)")
      .one_of(precisions);
  command.add_option("--ranges", arguments->ranges,
                     "A file of numpy.save, [2, D]: the least and the largest number of each "
                     "dimension for int8 and uint8 (default: those of the lines)");
  add_declared_option(command, EmbedOption::max_seq_length, arguments->embed);
  command.add_renamed("--max-tokens", "--max-seq-length");
  add_declared_option(command, EmbedOption::window, arguments->embed);
  add_declared_option(command, EmbedOption::overlap, arguments->embed);
  command
      .add_flag("--window-vectors", arguments->window_vectors,
                "A vector for each window instead of one of the line, with the part of the line "
                "in characters")
      .excludes(sparse)
      .excludes(multi_vector);
  add_declared_option(command, EmbedOption::batch_tokens, arguments->embed);
  add_line_options(command, arguments->lines);
  add_threads_option(command, arguments->common);
  command.footer("Example:\n  echo 'A sentence.' | heed embed --model all-MiniLM-L6-v2");
  command.set_action([arguments] { return run_embed(*arguments); }, Ranks::several);
}

}  // namespace heed::cli
