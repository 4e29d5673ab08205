#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/find_model.h"
#include "cli/standard_input.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/output_file.h"
#include "heed/base/quote.h"
#include "heed/data/parallel_text.h"
#include "heed/engine/load.h"
#include "heed/generate/input_error.h"
#include "heed/inspect/markup.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/tokenizer.h"
#include "heed/text/tokenizer_files.h"

namespace heed::cli {
namespace {

struct TokenizerOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string model, kind = "bpe";
  int size = 4000;
  bool pieces = false, special = false;
};

int run_train(const TokenizerOptions& options) {
  const Threads threads(options.common);
  require_output_file("--model", options.model);
  std::vector<std::string> sentences;
  for (const std::string& input : options.inputs)
    for (std::string& line : data::read_lines(input)) sentences.push_back(std::move(line));
  using Kind = text::SentencePiece::TrainOptions::Kind;
  text::SentencePiece::TrainOptions training;
  training.kind = options.kind == "bpe" ? Kind::bpe : Kind::unigram;
  training.vocab_size = options.size;
  const auto pieces = text::SentencePiece::train(sentences, training);
  write_file_atomically(options.model, pieces.serialized());
  std::cerr << pieces.vocab_size() << " pieces written to " << inspect::printable(options.model)
            << '\n';
  return 0;
}

/// The tokenizer of a model directory, a GGUF file, a model of the hub, a tokenizer.json or a
/// SentencePiece model.
text::Tokenizer load_tokenizer(const std::string& name) {
  const std::filesystem::path path = find_model(name, {.weights = false});
  if (path_is_directory(path) || path.extension() == ".gguf")
    return engine::shared_tokenizer(path, engine::read_tokenizer(path), "this command");
  if (path.extension() == ".json")
    return text::Tokenizer::from_json(parse_json(read_file(path), path.string()), path.string());
  std::string bytes = read_file(path);
  text::TokenizerParts parts = text::read_sentencepiece_parts(bytes, path.string());
  return text::Tokenizer::from_parts(std::move(parts), {},
                                     {{path.filename().string(), std::move(bytes)}});
}

/// Calls print(line) for each line of standard input and prefixes its Errors with the number of the
/// line. Unlike for_each_line(), passes on every byte, also of "\r" and of invalid UTF-8.
template <typename Print>
void for_each_raw_line(const Print& print) {
  std::string line;
  for (int64_t number = 1; read_line(line); ++number)
    generate::name_input("line", number, [&] { print(line); });
}

int run_encode(const TokenizerOptions& options) {
  const text::Tokenizer tokenizer = load_tokenizer(options.model);
  for_each_raw_line([&](const std::string& line) {
    const char* separator = "";
    for (const int32_t id : tokenizer.encode(line, options.special)) {
      std::cout << separator;
      if (options.pieces)
        std::cout << tokenizer.piece(id);
      else
        std::cout << id;
      separator = " ";
    }
    std::cout << '\n';
  });
  return 0;
}

int32_t read_id(const std::string& word, int64_t vocab_size) {
  size_t used = 0;
  int id = -1;
  try {
    id = std::stoi(word, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  require(used == word.size() && id >= 0 && id < vocab_size,
          "{} is not a token id, expected 0 to {}", quoted(word), vocab_size - 1);
  return id;
}

int run_decode(const TokenizerOptions& options) {
  const text::Tokenizer tokenizer = load_tokenizer(options.model);
  for_each_raw_line([&](const std::string& line) {
    std::istringstream words(line);
    std::vector<int32_t> ids;
    for (std::string word; words >> word;) ids.push_back(read_id(word, tokenizer.vocab_size()));
    std::cout << tokenizer.decode(ids, !options.special) << '\n';
  });
  return 0;
}

void add_tokenizer_option(Command& command, TokenizerOptions& options) {
  command
      .add_option("--model", options.model,
                  "Model directory, tokenizer.json, GGUF file, SentencePiece model, or "
                  "OWNER/NAME[@REVISION][:FILE.gguf] of the Hugging Face hub")
      .required();
}

}  // namespace

void add_tokenizer(Command& program) {
  Command command =
      program.add_subcommand("tokenizer", "Trains vocabularies, encodes and decodes text");
  command.require_subcommand();
  auto options = std::make_shared<TokenizerOptions>();

  Command train =
      command.add_subcommand("train", "Trains a SentencePiece vocabulary on text files");
  train.add_option("--input", options->inputs, "Text file with one sentence per line (repeatable)")
      .required();
  train.add_option("--kind", options->kind, "Algorithm").one_of({"bpe", "unigram"}).show_default();
  train.add_option("--size", options->size, "Number of pieces").range(8, 1 << 24).show_default();
  train.add_option("--model", options->model, "SentencePiece model file to write").required();
  train.footer(
      "Example:\n  heed tokenizer train --input a.en --input a.es --size 8000 --model v.model");
  train.set_action([options] { return run_train(*options); });

  Command encode =
      command.add_subcommand("encode", "Encodes each line of standard input as token ids");
  encode.add_flag("--pieces", options->pieces, "Print pieces instead of ids");
  encode.add_flag("--special", options->special, "Add the special tokens that the model expects");
  add_tokenizer_option(encode, *options);
  encode.footer(
      "Example:\n  echo 'In the beginning' | heed tokenizer encode --model model/source.spm");
  encode.set_action([options] { return run_encode(*options); });

  Command decode = command.add_subcommand(
      "decode", "Decodes token ids, one sequence per line of standard input");
  decode.add_flag("--special", options->special, "Print special tokens");
  add_tokenizer_option(decode, *options);
  decode.footer("Example:\n  echo '37 12 994' | heed tokenizer decode --model model/source.spm");
  decode.set_action([options] { return run_decode(*options); });

  for (Command subcommand : {train, encode, decode})
    add_common_options(subcommand, options->common);
}

}  // namespace heed::cli
