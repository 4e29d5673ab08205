#include "cli/quantize_measure.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "cli/model_options.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/rounding.h"
#include "heed/data/parallel_text.h"
#include "heed/generate/embedder.h"
#include "heed/generate/scorer.h"
#include "heed/generate/translator.h"
#include "heed/metrics/bleu.h"
#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

using Sequence = std::vector<int32_t>;

ModelOptions stored_options(const std::string& path, std::optional<Compute> compute) {
  ModelOptions options;
  options.path = path;
  options.compute = compute;
  return options;
}

/// A model that reads the user's files.
class Reader {
 public:
  /// Without `compute`: as it runs by default.
  Reader(const std::string& path, std::optional<Compute> compute)
      : options_(stored_options(path, compute)), model_(load_model(options_)) {
    if (model_->has_decoder()) model_->pack(Compute::f32);  // here a decoder reads whole texts, too
  }

  const model::Transformer& model() const { return *model_; }
  bool continues_texts() const { return model_->has_decoder() && !model_->has_encoder(); }
  bool translates() const { return model_->has_decoder() && model_->has_encoder(); }
  /// Tokens that are read at once, at most `most`.
  int64_t window(int64_t most) const {
    const model::ModelConfig& config = model_->config();
    return config.positions == model::PositionKind::none ? most
                                                         : std::min(most, config.max_positions);
  }

  Sequence tokens(const std::string& file) const {
    const std::string text = read_file(file);
    text::require_utf8(text, file);
    return load_tokenizer(options_, *model_).encode(text);
  }

  generate::Embedder embedder() const {
    return {*model_, load_tokenizer(options_, *model_),
            generate::read_embedder_options(options_.path)};
  }

  text::TranslationTokenizer translation_tokenizer() const {
    return text::TranslationTokenizer::load(options_.path);
  }

  /// Tokens of sources and their targets.
  std::vector<std::pair<Sequence, Sequence>> pairs(const std::string& source,
                                                   const std::string& target) const {
    const text::PairTokenizer tokenizer = load_pair_tokenizer(options_, *model_);
    std::vector<std::pair<Sequence, Sequence>> pairs;
    for (const data::SentencePair& pair : data::read_parallel(source, target))
      pairs.emplace_back(tokenizer.encode_source(pair.source),
                         tokenizer.encode_target(pair.target));
    return pairs;
  }

 private:
  ModelOptions options_;
  std::unique_ptr<model::Transformer> model_;
};

/// Of `count` things some, evenly spread.
std::vector<size_t> spread(size_t count) {
  constexpr size_t kMaxSamples = 64;
  std::vector<size_t> places;
  for (size_t i = 0; i < std::min(count, kMaxSamples); ++i)
    places.push_back(i * count / std::min(count, kMaxSamples));
  return places;
}

std::vector<int32_t> whole(const Sequence& sequence) {
  return {0, static_cast<int32_t>(sequence.size())};
}

void read_pieces(const Reader& reader, const std::string& file, Context& context) {
  constexpr int64_t kPiece = 256;
  const Sequence tokens = reader.tokens(file);
  const auto piece = static_cast<size_t>(reader.window(kPiece));
  for (const size_t place : spread(ceil_div(tokens.size(), piece))) {
    const size_t begin = place * piece, end = std::min(begin + piece, tokens.size());
    const Sequence part(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                        tokens.begin() + static_cast<std::ptrdiff_t>(end));
    reader.model().decode_all(context, {part, whole(part)});
  }
}

void read_lines(const Reader& reader, const std::string& file, Context& context) {
  const std::vector<std::string> lines = data::read_lines(file);
  const generate::Embedder embedder = reader.embedder();
  for (const size_t place : spread(lines.size())) {
    const Sequence tokens = embedder.tokens(lines[place]);
    if (!tokens.empty()) reader.model().encode(context, {tokens, whole(tokens)});
  }
}

void read_pairs(const Reader& reader, const std::string& file, const std::string& reference,
                Context& context) {
  const auto pairs = reader.pairs(file, reference);
  for (const size_t place : spread(pairs.size())) {
    const auto& [source, target] = pairs[place];
    if (source.empty() || target.empty()) continue;
    Sequence input{reader.model().config().decoder_start_id};
    input.insert(input.end(), target.begin(), target.end() - 1);
    const model::Memory memory = reader.model().encode(context, {source, whole(source)});
    reader.model().decode_all(context, {input, whole(input)}, memory);
  }
}

double perplexity(const Reader& reader, const Sequence& text) {
  constexpr int64_t kWindow = 1024;
  return generate::perplexity(
      generate::score_text(reader.model(), text, {.window = reader.window(kWindow)}));
}

/// Sentences and their translations.
struct Sentences {
  std::vector<std::string> sources, references;
};

Sentences read_sentences(const MeasuredTexts& texts) {
  Sentences sentences;
  for (const data::SentencePair& pair : data::read_parallel(texts.source, texts.reference)) {
    sentences.sources.push_back(pair.source);
    sentences.references.push_back(pair.target);
  }
  return sentences;
}

double bleu(const Reader& reader, const Sentences& sentences) {
  const auto tokenizer = reader.translation_tokenizer();
  const generate::Translator translator(reader.model(), tokenizer, {.search = {.num_beams = 4}});
  std::vector<std::string> translations;
  for (const generate::TranslatedLine& line : translator.translate(sentences.sources))
    translations.push_back(line.candidates.empty() ? "" : line.candidates.front().text);
  return metrics::corpus_bleu(translations, sentences.references).score;
}

double cosine(const std::vector<float>& x, const std::vector<float>& y) {
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  return dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
}

double mean_cosine(const std::vector<std::vector<float>>& first,
                   const std::vector<std::vector<float>>& second) {
  double sum = 0;
  for (size_t i = 0; i < first.size(); ++i) sum += cosine(first[i], second[i]);
  return sum / static_cast<double>(first.size());
}

/// Measures a copy in both arithmetics; `measured`: the model itself.
template <typename Measure>
CostMeter meter_of(const std::string& measured_on, const Cost& measured, const Measure& measure) {
  return [=](const std::string& copy) {
    Cost as_it_runs = measured, weights_alone = measured;
    as_it_runs.after = measure(Reader(copy, std::nullopt));
    weights_alone.what = "  weights alone";
    weights_alone.key += "_weights_alone";
    weights_alone.after = measure(Reader(copy, Compute::f32));
    return Costs{measured_on, {as_it_runs, weights_alone}};
  };
}

CostMeter bleu_meter(const Reader& reader, const MeasuredTexts& texts) {
  require(reader.translates(), "--source is for models that translate, this one does not");
  const Sentences sentences = read_sentences(texts);
  return meter_of(fmt::format("{}, {} lines", texts.source, sentences.sources.size()),
                  {"BLEU", "BLEU", bleu(reader, sentences), 0, true},
                  [sentences](const Reader& copy) { return bleu(copy, sentences); });
}

CostMeter perplexity_meter(const Reader& reader, const std::string& file) {
  const Sequence text = reader.tokens(file);
  require(text.size() >= 2, "{} has {} tokens: perplexity wants at least 2", file, text.size());
  return meter_of(fmt::format("{}, {} tokens", file, text.size() - 1),
                  {"perplexity", "perplexity", perplexity(reader, text)},
                  [text](const Reader& copy) { return perplexity(copy, text); });
}

CostMeter cosine_meter(const Reader& reader, const std::string& file) {
  const std::vector<std::string> lines = data::read_lines(file);
  const auto embeddings = reader.embedder().embed(lines);
  return meter_of(fmt::format("{}, {} lines", file, lines.size()), {"cosine", "cosine", 1.0},
                  [lines, embeddings](const Reader& copy) {
                    return mean_cosine(embeddings, copy.embedder().embed(lines));
                  });
}

}  // namespace

quantize::Calibration calibrate(const std::string& model, const std::string& text,
                                const std::string& reference) {
  require(!read_file(text).empty(), "{} is empty: expected a text to calibrate with", text);
  const Reader reader(model, std::nullopt);
  quantize::Calibration calibration;
  Context context;
  calibration.watch(context);
  if (reader.translates())
    read_pairs(reader, text, reference, context);
  else if (reader.continues_texts())
    read_pieces(reader, text, context);
  else
    read_lines(reader, text, context);
  require(!calibration.empty(), "{} has no tokens to calibrate with", text);
  calibration.finish();
  return calibration;
}

CostMeter cost_meter(const std::string& model, const MeasuredTexts& texts) {
  require(texts.text.empty() || texts.source.empty(),
          "--text and --source are for different kinds of models");
  if (texts.text.empty() && texts.source.empty()) return [](const std::string&) { return Costs{}; };
  const Reader reader(model, Compute::f32);
  if (!texts.source.empty()) return bleu_meter(reader, texts);
  require(!reader.translates(),
          "the cost for a model with an encoder and a decoder is measured with --source and "
          "--reference");
  return reader.continues_texts() ? perplexity_meter(reader, texts.text)
                                  : cosine_meter(reader, texts.text);
}

}  // namespace heed::cli
