#include "heed/detect/train.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"

namespace heed::detect {
namespace {

constexpr int64_t kProgressExamples = 200'000;
constexpr float kEpsilon = 1e-6f;

/// Each use of random numbers has a stream of its own.
enum Stream : uint64_t { kRowsStream, kLanguageStream, kTextStream, kPartStream, kDropoutStream };

/// A text's part of about `letters` code points from a random place, which begins and ends with a
/// word if the text has spaces.
std::string_view random_part(std::string_view text, size_t letters, double place) {
  const size_t count = count_code_points(text);
  if (count <= letters) return text;
  const double bytes_per_letter = static_cast<double>(text.size()) / static_cast<double>(count);
  const auto length = static_cast<size_t>(static_cast<double>(letters) * bytes_per_letter);
  size_t begin = static_cast<size_t>(place * static_cast<double>(text.size() - length));
  begin = code_point_begin(text, begin);
  size_t end = code_point_begin(text, std::min(text.size(), begin + length));
  const std::string_view part = text.substr(begin, end - begin);
  if (begin > 0 && text[begin - 1] != ' ')
    if (const size_t space = part.find(' '); space != std::string_view::npos) begin += space + 1;
  if (end < text.size() && text[end] != ' ')
    if (const size_t space = text.substr(begin, end - begin).rfind(' ');
        space != std::string_view::npos)
      end = begin + space;
  return text.substr(begin, end - begin);
}

/// Three of four are short, for long texts are easy.
size_t random_length(const CounterRandom& random, uint64_t counter) {
  const double choice = random.uniform(counter);
  const double size = random.uniform(counter + 1);
  return static_cast<size_t>(choice < 0.75 ? 8 + 32 * size : 40 + 160 * size);
}

class Trainer {
 public:
  Trainer(size_t languages, const TrainOptions& options)
      : options_(options),
        languages_(languages),
        width_(static_cast<size_t>(options.shape.width)),
        rows_((size_t{1} << options.shape.row_bits) * width_),
        row_squares_(size_t{1} << options.shape.row_bits, kEpsilon),
        output_(languages * width_),
        output_squares_(languages, kEpsilon),
        bias_(languages),
        sum_(width_),
        sum_gradient_(width_),
        logits_(languages) {
    const CounterRandom random(options.seed, kRowsStream);
    const float scale = 1.0f / std::sqrt(static_cast<float>(width_));
    for (size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = 0.1f * scale * static_cast<float>(random.normal(i));
    for (size_t i = 0; i < output_.size(); ++i)
      output_[i] = scale * static_cast<float>(random.normal(rows_.size() + i));
  }

  /// One step of Adagrad, with a step size for each row. Returns the loss.
  double step(std::span<const uint32_t> rows, size_t language, float rate) {
    const float factor = 1.0f / std::sqrt(static_cast<float>(rows.size()));
    std::ranges::fill(sum_, 0.0f);
    for (const uint32_t row : rows)
      for (size_t i = 0; i < width_; ++i) sum_[i] += factor * rows_[row * width_ + i];
    const double loss = softmax(language);
    std::ranges::fill(sum_gradient_, 0.0f);
    for (size_t l = 0; l < languages_; ++l) {
      const float gradient = logits_[l];
      float* output = &output_[l * width_];
      float square = 0;
      for (size_t i = 0; i < width_; ++i) {
        sum_gradient_[i] += gradient * output[i];
        square += sum_[i] * sum_[i];
      }
      output_squares_[l] += gradient * gradient * square / static_cast<float>(width_);
      const float size = rate * gradient / std::sqrt(output_squares_[l]);
      for (size_t i = 0; i < width_; ++i) output[i] -= size * sum_[i];
      bias_[l] -= size;
    }
    float square = 0;
    for (float& gradient : sum_gradient_) {
      gradient *= factor;
      square += gradient * gradient;
    }
    for (const uint32_t row : rows) {
      row_squares_[row] += square / static_cast<float>(width_);
      const float size = rate / std::sqrt(row_squares_[row]);
      for (size_t i = 0; i < width_; ++i) rows_[row * width_ + i] -= size * sum_gradient_[i];
    }
    return loss;
  }

  /// The table in 4 bits, and the rest as it is.
  void quantise(Identifier::Parts& parts) const {
    const size_t half = width_ / 2;
    QuantisedTable& table = parts.table;
    float largest = 0;
    for (const float value : rows_) largest = std::max(largest, std::abs(value));
    table.scale = largest / 7;
    for (size_t row = 0; row < row_squares_.size(); ++row) {
      const float* values = &rows_[row * width_];
      float most = 1e-20f;
      for (size_t i = 0; i < width_; ++i) most = std::max(most, std::abs(values[i]));
      const float octaves = std::log2(largest / most);
      const float exponent = std::floor(octaves * QuantisedTable::kExponentsPerOctave);
      table.exponents.push_back(static_cast<uint8_t>(std::clamp(exponent, 0.0f, 255.0f)));
      const float scale = table.scale * std::exp2(-static_cast<float>(table.exponents.back()) /
                                                  QuantisedTable::kExponentsPerOctave);
      const auto code = [&](float value) {
        return static_cast<uint8_t>(std::clamp(std::round(value / scale), -8.0f, 7.0f) + 8);
      };
      for (size_t i = 0; i < half; ++i)
        table.values.push_back(
            static_cast<uint8_t>(code(values[i]) | (code(values[half + i]) << 4)));
    }
    parts.output = output_;
    parts.bias = bias_;
  }

 private:
  /// Makes logits_ the gradient of the loss, which is returned.
  double softmax(size_t language) {
    float most = -INFINITY, total = 0;
    for (size_t l = 0; l < languages_; ++l) {
      float dot = bias_[l];
      for (size_t i = 0; i < width_; ++i) dot += output_[l * width_ + i] * sum_[i];
      logits_[l] = dot;
      most = std::max(most, dot);
    }
    const float own = logits_[language];
    for (float& logit : logits_) total += logit = std::exp(logit - most);
    for (float& logit : logits_) logit /= total;
    logits_[language] -= 1;
    return std::log(total) + most - own;
  }

  const TrainOptions& options_;
  size_t languages_, width_;
  std::vector<float> rows_, row_squares_, output_, output_squares_, bias_;
  std::vector<float> sum_, sum_gradient_, logits_;
};

/// The features of one random example: rows, thinned out by dropout.
void draw_example(const LanguageTexts& texts, const TrainOptions& options, uint64_t example,
                  Features& features, std::vector<uint32_t>& rows) {
  const CounterRandom choice(options.seed, kTextStream), part(options.seed, kPartStream);
  const std::string& text = texts.texts[choice.below(example, texts.texts.size())];
  const size_t letters = random_length(part, 4 * example);
  extract_features(random_part(text, letters, part.uniform(4 * example + 2)), features);
  const CounterRandom dropout(options.seed, mix64(kDropoutStream) ^ example);
  rows.clear();
  for (size_t i = 0; i < features.hashes.size(); ++i)
    if (dropout.uniform(i) >= options.dropout)
      rows.push_back(row_of(features.hashes[i], options.shape.row_bits));
}

/// Which pages of letters belong to a script of one of the languages: a letter in another script
/// stands in a text now and then, such as the name of a language.
class SeenPages {
 public:
  explicit SeenPages(size_t languages) : counts_(languages, std::vector<uint32_t>(kPages)) {}

  void add(size_t language, const std::vector<uint16_t>& pages) {
    for (const uint16_t page : pages) ++counts_[language][page];
  }

  /// A bit for each page.
  std::vector<uint8_t> known() const {
    std::vector<uint8_t> bits(kPages / 8);
    for (const std::vector<uint32_t>& counts : counts_) {
      double total = 0;
      for (const uint32_t count : counts) total += count;
      for (size_t page = 0; page < kPages; ++page)
        if (counts[page] > 0 && counts[page] >= kLeastShare * total)
          bits[page / 8] = static_cast<uint8_t>(bits[page / 8] | (1u << (page % 8)));
    }
    return bits;
  }

 private:
  static constexpr double kLeastShare = 5e-6;
  std::vector<std::vector<uint32_t>> counts_;  // [languages, kPages], letters
};

}  // namespace

Identifier train(const std::vector<LanguageTexts>& corpus, const TrainOptions& options,
                 const std::function<void(int64_t, double)>& progress) {
  require(corpus.size() > 1, "a language identifier is trained with at least two languages");
  Identifier::Parts parts;
  parts.shape = options.shape;
  for (const LanguageTexts& texts : corpus) {
    require(!texts.texts.empty(), "there are no texts of language {}", texts.language);
    parts.languages.push_back(texts.language);
  }
  Trainer trainer(corpus.size(), options);
  SeenPages pages(corpus.size());
  const CounterRandom languages(options.seed, kLanguageStream);
  Features features;
  std::vector<uint32_t> rows;
  double loss = 0;
  for (int64_t example = 0; example < options.examples; ++example) {
    const auto counter = static_cast<uint64_t>(example);
    const size_t language = languages.below(counter, corpus.size());
    draw_example(corpus[language], options, counter, features, rows);
    if (rows.empty()) continue;
    pages.add(language, features.pages);
    const auto left = static_cast<float>(options.examples - example);
    loss += trainer.step(rows, language,
                         options.learning_rate * left / static_cast<float>(options.examples));
    if ((example + 1) % kProgressExamples == 0) {
      progress(example + 1, loss / static_cast<double>(kProgressExamples));
      loss = 0;
    }
  }
  parts.pages = pages.known();
  trainer.quantise(parts);
  return Identifier(std::move(parts));
}

}  // namespace heed::detect
