#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command.h"
#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/parallel_text.h"
#include "heed/format/gguf_write.h"
#include "heed/format/quantized_directory.h"
#include "heed/generate/embedder.h"
#include "heed/generate/scorer.h"
#include "heed/generate/translator.h"
#include "heed/train/bleu.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct QuantizeOptions {
  CommonOptions common;
  std::string model, weights, out;
  std::string text, source, reference;  // what the cost is measured with
  bool json = false;
};

DType wanted_dtype(const QuantizeOptions& options) {
  for (const DType dtype : {DType::q4_0, DType::q4_1, DType::q8_0, DType::bf16})
    if (options.weights == name_of(dtype)) return dtype;
  fail("{} is no precision to quantise to", options.weights);
}

void quantize(const QuantizeOptions& options) {
  const format::WeightPrecision precision{wanted_dtype(options)};
  if (fs::is_directory(options.model))
    format::save_quantized(options.out, *format::load_model(options.model, {precision}),
                           options.model);
  else
    format::write_quantized_gguf(options.out, *format::GgufFile::open(options.model), precision);
}

/// Bytes of the weights: of the files that hold them.
uintmax_t weight_bytes(const fs::path& path) {
  if (!fs::is_directory(path)) return fs::file_size(path);
  uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size();
  return bytes;
}

ModelOptions stored(const std::string& path) {
  ModelOptions options;
  options.path = path;
  return options;
}

/// What a model makes of the user's text, before and after.
struct Model {
  Model(const QuantizeOptions& wanted, const std::string& path)
      : options(stored(path)), model(load_model(options)), asked(wanted) {}

  double perplexity() const {
    const text::Tokenizer tokenizer = load_tokenizer(options, *model);
    return generate::perplexity(
        generate::score_text(*model, tokenizer.encode(read_file(asked.text)), {}));
  }

  double bleu() const {
    const auto tokenizer = text::TranslationTokenizer::load(options.path);
    const generate::Translator translator(*model, tokenizer, {.search = {.beam = 4}});
    std::vector<std::string> translations;
    for (const generate::TranslatedLine& line :
         translator.translate(data::read_lines(asked.source)))
      translations.push_back(line.candidates.empty() ? "" : line.candidates.front().text);
    return train::corpus_bleu(translations, data::read_lines(asked.reference)).score;
  }

  std::vector<std::vector<float>> embeddings() const {
    const generate::Embedder embedder(*model, load_tokenizer(options, *model),
                                      generate::read_embedder_options(options.path));
    return embedder.embed(data::read_lines(asked.text));
  }

  const ModelOptions options;
  const std::unique_ptr<model::Transformer> model;
  const QuantizeOptions& asked;
};

double cosine(const std::vector<float>& x, const std::vector<float>& y) {
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  return dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
}

/// A row of the table: what was measured of the model and of its quantised copy.
struct Cost {
  std::string what;
  double before, after;
};

std::vector<Cost> measure(const QuantizeOptions& options) {
  std::vector<Cost> costs;
  if (options.text.empty() && options.source.empty()) return costs;
  const Model before(options, options.model), after(options, options.out);
  if (!options.source.empty()) costs.push_back({"BLEU", before.bleu(), after.bleu()});
  if (options.text.empty()) return costs;
  if (before.model->has_decoder()) {
    require(!before.model->has_encoder(),
            "the cost for a model with an encoder and a decoder is measured with --source and "
            "--reference");
    costs.push_back({"perplexity", before.perplexity(), after.perplexity()});
    return costs;
  }
  const auto first = before.embeddings(), second = after.embeddings();
  require(!first.empty(), "{} is empty", options.text);
  double sum = 0;
  for (size_t i = 0; i < first.size(); ++i) sum += cosine(first[i], second[i]);
  costs.push_back({"cosine", 1, sum / static_cast<double>(first.size())});
  return costs;
}

void print(const QuantizeOptions& options, const std::vector<Cost>& costs) {
  const auto before = weight_bytes(options.model), after = weight_bytes(options.out);
  if (options.json) {
    nlohmann::ordered_json facts = {{"bytes", {before, after}}};
    for (const Cost& cost : costs) facts[cost.what] = {cost.before, cost.after};
    std::cout << facts << '\n';
    return;
  }
  std::cout << fmt::format("{:<12}{:>16}{:>16}\n", "", "before", "after");
  std::cout << fmt::format("{:<12}{:>16}{:>16}   {:+.2f}%\n", "bytes", before, after,
                           100 * (static_cast<double>(after) / static_cast<double>(before) - 1));
  for (const auto& [what, was, is] : costs)
    std::cout << fmt::format("{:<12}{:>16.4f}{:>16.4f}   {:+.2f}%\n", what, was, is,
                             100 * (is / was - 1));
}

int run_quantize(const QuantizeOptions& options) {
  apply(options.common);
  quantize(options);
  print(options, measure(options));
  return 0;
}

}  // namespace

void add_quantize(CLI::App& program) {
  auto* app = program.add_subcommand(
      "quantize", "Writes a model with smaller weights, and says what that costs");
  auto options = std::make_shared<QuantizeOptions>();
  app->add_option("--model", options->model, "Model directory or GGUF file")->required();
  app->add_option("--weights", options->weights,
                  "How matrices are kept: in blocks of 32 with 8 or 4 bits each, or in bf16")
      ->check(CLI::IsMember({"q8_0", "q4_1", "q4_0", "bf16"}))
      ->required();
  app->add_option("--out", options->out, "Model directory, or GGUF file of a GGUF file")
      ->required();
  app->add_option("--text", options->text,
                  "Measure the cost on this held-out text: perplexity where the model continues "
                  "texts, the cosine between embeddings of its lines where it embeds them")
      ->check(CLI::ExistingFile);
  auto* source = app->add_option("--source", options->source,
                                 "Measure the cost on these sentences: BLEU of translations")
                     ->check(CLI::ExistingFile);
  auto* reference =
      app->add_option("--reference", options->reference, "Their translations, line by line")
          ->check(CLI::ExistingFile);
  source->needs(reference);
  reference->needs(source);
  app->add_flag("--json", options->json, "Print a JSON object");
  add_common_options(*app, options->common);
  app->footer(
      "Examples:\n"
      "  heed quantize --model llama --weights q8_0 --out llama-q8 --text held-out.txt\n"
      "  heed quantize --model model --weights q4_0 --out small --source test.en --reference "
      "test.es");
  set_action(*app, [options] { return run_quantize(*options); });
}

}  // namespace heed::cli
