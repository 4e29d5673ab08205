#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answer_lines.h"
#include "cli/command.h"
#include "cli/json_line.h"
#include "cli/model_options.h"
#include "heed/generate/alignment.h"
#include "heed/generate/translator.h"

namespace heed::cli {
namespace {

struct TranslateOptions {
  CommonOptions common;
  ModelOptions model;
  generate::Translator::Options translator{.search = {.num_beams = 4}};
  bool alignments = false, scores = false, json = false;
};

struct LoadedTranslator {
  std::unique_ptr<model::Transformer> model;
  text::TranslationTokenizer tokenizer;
};

std::string alignment_of(const LoadedTranslator& loaded, const generate::TranslatedLine& line,
                         const generate::Hypothesis& hypothesis) {
  return generate::pharaoh(
      generate::align_words(*loaded.model, loaded.tokenizer, line.source, hypothesis.tokens));
}

void print_json(const LoadedTranslator& loaded, const TranslateOptions& options, int64_t number,
                const generate::TranslatedLine& line) {
  nlohmann::ordered_json out = {{"line", number}, {"translations", nlohmann::json::array()}};
  for (const auto& [text, hypothesis] : line.candidates) {
    nlohmann::ordered_json entry = {{"text", text},
                                    {"score", hypothesis.score},
                                    {"log_probability", hypothesis.log_probability}};
    if (options.alignments) entry["alignment"] = alignment_of(loaded, line, hypothesis);
    out["translations"].push_back(entry);
  }
  std::cout << json_line(out);
}

/// Plain text, one line per translation. With n-best lists, scores or alignments: the columns of
/// Moses, number ||| text ||| score ||| alignment.
void print_text(const LoadedTranslator& loaded, const TranslateOptions& options, int64_t number,
                const generate::TranslatedLine& line) {
  const bool columns = options.translator.search.n_best > 1 || options.scores || options.alignments;
  if (line.candidates.empty()) std::cout << '\n';
  for (const auto& [text, hypothesis] : line.candidates) {
    if (columns) std::cout << number - 1 << " ||| ";
    std::cout << text;
    if (columns) std::cout << fmt::format(" ||| {:.6f}", hypothesis.score);
    if (options.alignments) std::cout << " ||| " << alignment_of(loaded, line, hypothesis);
    std::cout << '\n';
  }
}

int run_translate(TranslateOptions& options) {
  const Threads threads(options.common);
  generate::check(options.translator.search);
  options.translator.dtype = activation_dtype(options.model);
  options.translator.scores = options.scores || options.json || options.alignments;
  const LoadedTranslator loaded{load_model(options.model),
                                text::TranslationTokenizer::load(options.model.path)};
  const generate::Translator translator(*loaded.model, loaded.tokenizer, options.translator);
  answer_lines([&](const std::vector<std::string>& lines,
                   int64_t first) { return translator.translate(lines, first); },
               [&](const generate::TranslatedLine& line, int64_t number) {
                 if (options.json)
                   print_json(loaded, options, number, line);
                 else
                   print_text(loaded, options, number, line);
               });
  return 0;
}

}  // namespace

void add_translate(Command& program) {
  Command command = program.add_subcommand("translate", "Translates standard input, line by line");
  auto options = std::make_shared<TranslateOptions>();
  generate::SearchOptions& search = options->translator.search;
  add_model_options(command, options->model);
  options->model.widen = true;
  command.add_option("--num-beams", search.num_beams, "Number of beams; 1: greedy search")
      .range(1, generate::kMaxBeams)
      .show_default();
  command.add_renamed("--beam", "--num-beams");
  command.add_option("--nbest", search.n_best, "Translations printed per line, best first")
      .range(1, generate::kMaxBeams)
      .show_default();
  command
      .add_option("--length-penalty", search.length_penalty,
                  "Exponent alpha of the length penalty ((5 + length) / 6)^alpha; 0: none")
      .show_default();
  Option limit = command
                     .add_option("--max-new-tokens", search.max_new_tokens,
                                 "Maximum number of tokens per translation (default: those of "
                                 "the source plus --max-new-tokens-over-source)")
                     .range(int64_t{1}, kMaxCount);
  command
      .add_option("--max-new-tokens-over-source", search.max_new_tokens_over_source,
                  "Maximum number of tokens that a translation may have beyond those of its source")
      .excludes(limit)
      .show_default();
  command.add_renamed("--extra-length", "--max-new-tokens-over-source");
  command
      .add_option("--batch-tokens", options->translator.batch_tokens,
                  "Source tokens times beams per batch; does not change results (default: 2048 for "
                  "quantised weights, else 8192)")
      .positive();
  command.add_flag("--scores", options->scores, "Print columns: line ||| text ||| score");
  command.add_flag("--alignments", options->alignments,
                   "Also print word alignments, taken from cross-attention");
  command.add_flag("--json", options->json, "Print one JSON object per line");
  add_common_options(command, options->common);
  command.footer(
      "Examples:\n"
      "  echo 'And God said, Let there be light.' | heed translate --model model\n"
      "  heed translate --model model --num-beams 8 --nbest 3 --alignments < in.txt\n"
      "  heed translate --model model --compute int8 < in.txt");
  command.set_action([options] { return run_translate(*options); });
}

}  // namespace heed::cli
