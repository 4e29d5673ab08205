#include "heed/engine/quantize_measure.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/rounding.h"
#include "heed/base/text_lines.h"
#include "heed/data/parallel_text.h"
#include "heed/engine/load.h"
#include "heed/generate/translator.h"
#include "heed/metrics.h"
#include "heed/tasks/embedder.h"
#include "heed/tasks/scorer.h"
#include "heed/tasks/text_settings.h"
#include "heed/text/utf8.h"

namespace heed::engine {
namespace {

using Sequence = std::vector<int32_t>;

/// A model that reads whole texts, and its tokenizer.
class MeasuredModel {
 public:
  /// Without `compute`: its default arithmetic.
  MeasuredModel(const std::filesystem::path& path, std::optional<Compute> compute)
      : path_(path), model_(load_transformer(path, {.compute = compute})) {
    if (model_->has_decoder()) model_->pack(Compute::f32);  // here decoders read whole texts, too
  }

  const model::Transformer& transformer() const { return *model_; }
  bool is_decoder_only() const { return model_->has_decoder() && !model_->has_encoder(); }
  bool is_encoder_decoder() const { return model_->has_decoder() && model_->has_encoder(); }
  /// The model's context length, at most `limit`.
  int64_t window(int64_t limit) const {
    const model::ModelConfig& config = model_->config();
    return config.positions == model::PositionKind::none ? limit
                                                         : std::min(limit, config.max_positions);
  }

  Sequence tokens(const std::filesystem::path& file) const {
    const std::string text = read_file(file);
    text::require_utf8(text, file.string());
    return shared_tokenizer().encode(without_byte_order_mark(text));
  }

  tasks::Embedder embedder() const {
    return {*model_, shared_tokenizer(),
            tasks::read_embedder_options(path_, tasks::context_limit(model_->config()))};
  }

  text::TranslationTokenizer translation_tokenizer() const {
    return text::TranslationTokenizer::load(path_);
  }

  /// Tokens of sources and their targets.
  std::vector<std::pair<Sequence, Sequence>> pairs(const TextFiles& files) const {
    const text::ModelTokenizer tokenizer = pair_tokenizer();
    std::vector<std::pair<Sequence, Sequence>> pairs;
    for (const data::SentencePair& pair : data::read_parallel(files.text, files.reference))
      pairs.emplace_back(tokenizer.encode_source(pair.source),
                         tokenizer.encode_target(pair.target));
    return pairs;
  }

 private:
  text::ModelTokenizer pair_tokenizer() const { return engine::read_tokenizer(path_); }
  text::Tokenizer shared_tokenizer() const {
    return engine::shared_tokenizer(path_, pair_tokenizer(), "this measurement");
  }

  std::filesystem::path path_;
  std::unique_ptr<model::Transformer> model_;
};

/// Evenly spaced indices below `count`, at most 64.
std::vector<size_t> sample_indices(size_t count) {
  constexpr size_t kMaxSamples = 64;
  std::vector<size_t> places;
  for (size_t i = 0; i < std::min(count, kMaxSamples); ++i)
    places.push_back(i * count / std::min(count, kMaxSamples));
  return places;
}

std::vector<int32_t> offsets_of(const Sequence& sequence) {
  return {0, static_cast<int32_t>(sequence.size())};
}

void read_pieces(const MeasuredModel& model, const std::filesystem::path& file, Context& context) {
  constexpr int64_t kPiece = 256;
  const Sequence tokens = model.tokens(file);
  const auto piece = static_cast<size_t>(model.window(kPiece));
  for (const size_t place : sample_indices(ceil_div(tokens.size(), piece))) {
    const size_t begin = place * piece, end = std::min(begin + piece, tokens.size());
    const Sequence part(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                        tokens.begin() + static_cast<std::ptrdiff_t>(end));
    model.transformer().decode_all(context, {part, offsets_of(part)});
  }
}

void read_lines(const MeasuredModel& model, const std::filesystem::path& file, Context& context) {
  const std::vector<std::string> lines = heed::read_lines(file);
  const tasks::Embedder embedder = model.embedder();
  for (const size_t place : sample_indices(lines.size())) {
    const Sequence tokens = embedder.tokens(lines[place]);
    if (!tokens.empty()) model.transformer().encode(context, {tokens, offsets_of(tokens)});
  }
}

void read_pairs(const MeasuredModel& model, const TextFiles& files, Context& context) {
  const auto pairs = model.pairs(files);
  for (const size_t place : sample_indices(pairs.size())) {
    const auto& [source, target] = pairs[place];
    if (source.empty() || target.empty()) continue;
    Sequence input{model.transformer().config().decoder_start_id};
    input.insert(input.end(), target.begin(), target.end() - 1);
    const model::Memory memory = model.transformer().encode(context, {source, offsets_of(source)});
    model.transformer().decode_all(context, {input, offsets_of(input)}, memory);
  }
}

double perplexity(const MeasuredModel& model, const Sequence& text) {
  constexpr int64_t kWindow = 1024;
  return tasks::perplexity(
      tasks::score_text(model.transformer(), text, {.window = model.window(kWindow)}));
}

/// Sentences and their translations.
struct Sentences {
  std::vector<std::string> sources, references;
};

Sentences read_sentences(const TextFiles& files) {
  Sentences sentences;
  for (const data::SentencePair& pair : data::read_parallel(files.text, files.reference)) {
    sentences.sources.push_back(pair.source);
    sentences.references.push_back(pair.target);
  }
  return sentences;
}

double bleu(const MeasuredModel& model, const Sentences& sentences) {
  const auto tokenizer = model.translation_tokenizer();
  const generate::Translator translator(model.transformer(), tokenizer,
                                        {.search = {.num_beams = 4}});
  std::vector<std::string> translations;
  for (const generate::Translation& line : translator.translate(sentences.sources))
    translations.push_back(line.candidates.empty() ? "" : line.candidates.front().text);
  return corpus_bleu(translations, sentences.references).score;
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

/// A meter that measures a copy with its default arithmetic and with f32. `measured` is the result
/// of the model itself.
template <typename Measure>
QualityEvaluator evaluator_of(const QualityChange& measured, const Measure& measure) {
  return [=](const std::filesystem::path& copy) {
    QualityChange change = measured;
    change.after = measure(MeasuredModel(copy, std::nullopt));
    change.after_weights_only = measure(MeasuredModel(copy, Compute::f32));
    return change;
  };
}

/// "held-out.txt, 1 line", "held-out.txt, 2 lines".
std::string counted_lines(const std::filesystem::path& file, size_t lines) {
  return fmt::format("{}, {} line{}", file.string(), lines, lines == 1 ? "" : "s");
}

QualityEvaluator bleu_evaluator(const MeasuredModel& model, const TextFiles& files) {
  const Sentences sentences = read_sentences(files);
  return evaluator_of({.measure = "BLEU",
                       .measured_on = counted_lines(files.text, sentences.sources.size()),
                       .before = bleu(model, sentences)},
                      [sentences](const MeasuredModel& copy) { return bleu(copy, sentences); });
}

QualityEvaluator perplexity_evaluator(const MeasuredModel& model,
                                      const std::filesystem::path& file) {
  const Sequence text = model.tokens(file);
  require(text.size() >= 2, "{} has {} tokens: perplexity needs at least 2", file.string(),
          text.size());
  return evaluator_of({.measure = "perplexity",
                       .measured_on = fmt::format("{}, {} tokens", file.string(), text.size() - 1),
                       .before = perplexity(model, text)},
                      [text](const MeasuredModel& copy) { return perplexity(copy, text); });
}

QualityEvaluator cosine_evaluator(const MeasuredModel& model, const std::filesystem::path& file) {
  const std::vector<std::string> lines = heed::read_lines(file);
  const auto embeddings = model.embedder().embed(lines);
  return evaluator_of(
      {.measure = "cosine", .measured_on = counted_lines(file, lines.size()), .before = 1.0},
      [lines, embeddings](const MeasuredModel& copy) {
        return mean_cosine(embeddings, copy.embedder().embed(lines));
      });
}

}  // namespace

void check_texts(const TextFiles& files, const model::Transformer& model, const char* done) {
  const bool pairs = model.has_encoder() && model.has_decoder();
  require(!pairs || !files.reference.empty(),
          "an encoder-decoder is {} on source sentences and their translations, and there is no "
          "reference",
          done);
  require(pairs || files.reference.empty(),
          "an encoder-decoder is {} on source sentences and their translations, and this model is "
          "not one",
          done);
}

quantize::Calibration calibrate(const std::filesystem::path& path, const TextFiles& files) {
  require(!read_file(files.text).empty(), "{} is empty: expected a text to calibrate with",
          files.text.string());
  const MeasuredModel model(path, std::nullopt);
  quantize::Calibration calibration;
  Context context;
  calibration.watch(context);
  if (model.is_encoder_decoder())
    read_pairs(model, files, context);
  else if (model.is_decoder_only())
    read_pieces(model, files.text, context);
  else
    read_lines(model, files.text, context);
  require(!calibration.empty(), "{} has no tokens to calibrate with", files.text.string());
  calibration.finish();
  return calibration;
}

QualityEvaluator quality_evaluator(const std::filesystem::path& path, const TextFiles& files) {
  const MeasuredModel model(path, Compute::f32);
  check_texts(files, model.transformer(), "measured");
  if (model.is_encoder_decoder()) return bleu_evaluator(model, files);
  return model.is_decoder_only() ? perplexity_evaluator(model, files.text)
                                 : cosine_evaluator(model, files.text);
}

}  // namespace heed::engine
