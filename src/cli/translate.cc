#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/line_stream.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/generate/alignment.h"
#include "heed/generate/translator.h"

namespace heed::cli {
namespace {

struct TranslateOptions {
  CommonOptions common;
  ModelOptions model;
  generate::Translator::Options translator{.search = {.beam = 4}};
  bool alignments = false, scores = false, json = false;
};

struct LoadedModel {
  std::unique_ptr<model::Transformer> model;
  text::TranslationTokenizer tokenizer;
};

std::string alignment_of(const LoadedModel& loaded, const generate::TranslatedLine& line,
                         const generate::Hypothesis& hypothesis) {
  return generate::pharaoh(
      generate::align_words(*loaded.model, loaded.tokenizer, line.source, hypothesis.tokens));
}

void print_json(const LoadedModel& loaded, const TranslateOptions& options, int64_t number,
                const generate::TranslatedLine& line) {
  nlohmann::ordered_json out = {{"line", number}, {"translations", nlohmann::json::array()}};
  for (const auto& [text, hypothesis] : line.candidates) {
    nlohmann::ordered_json entry = {{"text", text},
                                    {"score", hypothesis.score},
                                    {"log_probability", hypothesis.log_probability}};
    if (options.alignments) entry["alignment"] = alignment_of(loaded, line, hypothesis);
    out["translations"].push_back(entry);
  }
  std::cout << out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

/// Plain text: one line a translation; with n-best lists, scores or alignments, columns as in
/// Moses: number ||| text ||| score ||| alignment.
void print_text(const LoadedModel& loaded, const TranslateOptions& options, int64_t number,
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
  apply(options.common);
  options.translator.dtype = activation_dtype(options.model);
  options.translator.scores = options.scores || options.json || options.alignments;
  const LoadedModel loaded{load_model(options.model),
                           text::TranslationTokenizer::load(options.model.path)};
  const generate::Translator translator(*loaded.model, loaded.tokenizer, options.translator);
  LineStream lines;
  int64_t number = 1;
  for (std::vector<std::string> some = lines.next(); !some.empty(); some = lines.next()) {
    const int64_t first = number;
    for (const generate::TranslatedLine& line : translator.translate(some, first)) {
      if (options.json)
        print_json(loaded, options, number, line);
      else
        print_text(loaded, options, number, line);
      ++number;
    }
    std::cout.flush();
    require(std::cout.good(), "the translations cannot be written to standard output");
  }
  return 0;
}

}  // namespace

void add_translate(CLI::App& program) {
  auto* app = program.add_subcommand("translate", "Translates standard input, line by line");
  auto options = std::make_shared<TranslateOptions>();
  generate::SearchOptions& search = options->translator.search;
  add_model_options(*app, options->model);
  options->model.widen = true;
  app->add_option("--beam", search.beam, "Hypotheses kept; 1 is greedy")->capture_default_str();
  app->add_option("--nbest", search.n_best, "Translations printed per line, best first")
      ->capture_default_str();
  app->add_option("--length-penalty", search.length_penalty,
                  "alpha of ((5 + length) / 6)^alpha; 0 compares plain probabilities")
      ->capture_default_str();
  app->add_option("--extra-length", search.extra_length,
                  "Tokens that a translation may have more than its source")
      ->capture_default_str();
  app->add_option(
         "--batch-tokens", options->translator.batch_tokens,
         "Source tokens times beam that are translated together; changes no result (default: "
         "2048 where weights are in blocks, else 8192)")
      ->check(CLI::PositiveNumber);
  app->add_flag("--scores", options->scores, "Print \"line ||| text ||| score\"");
  app->add_flag("--alignments", options->alignments,
                "Print word alignments from cross-attention as well");
  app->add_flag("--json", options->json, "Print a JSON object a line");
  add_common_options(*app, options->common);
  app->footer(
      "Example:\n"
      "  echo 'And God said, Let there be light.' | heed translate --model model\n"
      "  heed translate --model model --beam 8 --nbest 3 --alignments < in.txt\n"
      "  heed translate --model model --compute int8 < in.txt");
  set_action(*app, [options] { return run_translate(*options); });
}

}  // namespace heed::cli
