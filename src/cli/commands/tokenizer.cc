#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/find_model.h"
#include "cli/lines/output.h"
#include "cli/lines/standard_input.h"
#include "cli/options/command.h"
#include "cli/options/declared_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/output_file.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/base/text_lines.h"
#include "heed/text/tokenizer_options.h"

namespace heed::cli {
namespace {

struct TokenizerOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string model, kind = "bpe", offsets;
  TrainTokenizerOptions training{.vocab_size = 4000};
  bool pieces = false, special = false, json = false;
};

int run_train(TokenizerOptions& options) {
  const Threads threads(options.common);
  require_output_file("--model", options.model);
  std::vector<std::string> texts;
  for (const std::string& input : options.inputs)
    for (std::string& line : read_lines(input)) texts.push_back(std::move(line));
  using Kind = TrainTokenizerOptions::Kind;
  options.training.kind = options.kind == "bpe"       ? Kind::bpe
                          : options.kind == "unigram" ? Kind::unigram
                                                      : Kind::byte_level_bpe;
  const Tokenizer tokenizer = Tokenizer::train(texts, options.training);
  write_file_atomically(options.model, tokenizer.files().front().second);
  if (options.json)
    std::cout << json_line({{"file", options.model}, {"vocab_size", tokenizer.vocab_size()}});
  else
    std::cerr << tokenizer.vocab_size() << " pieces written to " << printable(options.model)
              << '\n';
  return 0;
}

/// Calls print(line) for each line of standard input and prefixes its Errors with the number of the
/// line. Unlike for_each_line(), passes on every byte, also of "\r" and of invalid UTF-8.
template <typename Print>
void for_each_raw_line(const Print& print) {
  std::string line;
  for (int64_t number = 1; read_line(line); ++number)
    name_input("line", number, [&] { print(line); });
}

Tokenizer load_tokenizer(const std::string& model) {
  Tokenizer tokenizer = Tokenizer::load(find_model(model, {.weights = false}));
  print_warnings(tokenizer.warnings());
  return tokenizer;
}

/// A line's tokens as JSON.
std::string json_of(const Tokenizer& tokenizer, const Encoding& encoding) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array(), offsets = pieces;
  for (const int32_t id : encoding.ids) pieces.push_back(tokenizer.token(id));
  for (const TokenOffsets& one : encoding.offsets) offsets.push_back({one.begin, one.end});
  return json_line({{"ids", encoding.ids}, {"pieces", pieces}, {"offsets", offsets}});
}

int run_encode(const TokenizerOptions& options) {
  const Tokenizer tokenizer = load_tokenizer(options.model);
  EncodeOptions encode{.special = options.special};
  if (options.offsets == "code-points") encode.offsets = OffsetUnit::code_points;
  for_each_raw_line([&](const std::string& line) {
    Encoding encoding;
    if (options.offsets.empty() && !options.json)
      encoding.ids = tokenizer.encode(line, options.special);
    else
      encoding = tokenizer.encode_with_offsets(line, encode);
    if (options.json) {
      std::cout << json_of(tokenizer, encoding);
      return;
    }
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      std::cout << (i > 0 ? " " : "");
      if (options.pieces)
        std::cout << tokenizer.token(encoding.ids[i]);
      else
        std::cout << encoding.ids[i];
      if (!options.offsets.empty())
        std::cout << ':' << encoding.offsets[i].begin << '-' << encoding.offsets[i].end;
    }
    std::cout << '\n';
  });
  return 0;
}

int32_t read_id(const std::string& word, int64_t vocab_size) {
  const auto id = parse_number<int32_t>(word);
  require(id && *id >= 0 && *id < vocab_size, "{} is not a token id, expected 0 to {}",
          quoted(word), vocab_size - 1);
  return *id;
}

int run_decode(const TokenizerOptions& options) {
  const Tokenizer tokenizer = load_tokenizer(options.model);
  for_each_raw_line([&](const std::string& line) {
    std::istringstream words(line);
    std::vector<int32_t> ids;
    for (std::string word; words >> word;) ids.push_back(read_id(word, tokenizer.vocab_size()));
    const std::string text = tokenizer.decode(ids, !options.special);
    std::cout << (options.json ? json_line({{"text", text}}) : text + '\n');
  });
  return 0;
}

void add_tokenizer_option(Command& command, TokenizerOptions& options) {
  command
      .add_option("model,--model", options.model,
                  "Model directory, tokenizer.json, GGUF file, SentencePiece model, or "
                  "[OWNER/]NAME[@REVISION][:FILE.gguf] of the Hugging Face hub")
      .names_model()
      .required();
}

}  // namespace

void add_tokenizer(Command& program) {
  Command command =
      program.add_subcommand("tokenizer", "Trains vocabularies, encodes and decodes text");
  command.require_subcommand();
  auto options = std::make_shared<TokenizerOptions>();

  using Row = text::TrainTokenizerOption;
  Command train = command.add_subcommand("train", "Trains a vocabulary on text files");
  train.add_option("--input", options->inputs, "Text file with one sentence per line (repeatable)")
      .required();
  add_declared_value(train, Row::kind, options->kind)
      .one_of({"bpe", "unigram", "byte-level-bpe"})
      .show_default();
  TrainTokenizerOptions& training = options->training;
  add_declared_option(train, Row::vocab_size, training, "--size").show_default();
  add_declared_option(train, Row::pre_tokenizer, training).show_default();
  add_declared_option(train, Row::special_tokens, training, "--special-token")
      .show_default("<|endoftext|>");
  add_declared_option(train, Row::min_frequency, training).show_default();
  train
      .add_option("--model", options->model,
                  "File to write: a SentencePiece model, or for byte-level-bpe a tokenizer.json")
      .required();
  train.add_flag("--json", options->json, "Print what was written as one JSON object");
  train.footer(
      "Example:\n  heed tokenizer train --input a.en --input a.es --size 8000 --model v.model");
  train.set_action([options] { return run_train(*options); });

  Command encode =
      command.add_subcommand("encode", "Encodes each line of standard input as token ids");
  encode.add_flag(
      "--json", options->json,
      "Print one JSON object per line: ids, pieces and offsets (in bytes, or as --offsets "
      "says)");
  encode.add_flag("--pieces", options->pieces, "Print pieces instead of ids")
      .excludes(encode.option("--json"));
  encode.add_flag("--special", options->special, "Add the special tokens that the model expects");
  encode
      .add_option(
          "--offsets", options->offsets,
          "Print BEGIN-END after each, the part of the line that it stands for, in bytes or "
          "code points")
      .one_of({"bytes", "code-points"});
  add_tokenizer_option(encode, *options);
  encode.footer(
      "Example:\n  echo 'In the beginning' | heed tokenizer encode --model model/source.spm");
  encode.set_action([options] { return run_encode(*options); });

  Command decode = command.add_subcommand(
      "decode", "Decodes token ids, one sequence per line of standard input");
  decode.add_flag("--special", options->special, "Print special tokens");
  decode.add_flag("--json", options->json, "Print one JSON object per line");
  add_tokenizer_option(decode, *options);
  decode.footer("Example:\n  echo '37 12 994' | heed tokenizer decode --model model/source.spm");
  decode.set_action([options] { return run_decode(*options); });

  for (Command subcommand : {train, encode, decode})
    add_threads_option(subcommand, options->common);
}

}  // namespace heed::cli
