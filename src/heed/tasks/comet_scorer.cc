#include "heed/tasks/comet_scorer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/kernels/as_f32.h"
#include "heed/tasks/text_tokens.h"

namespace heed::tasks {
namespace {

/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinCometTokens = 128;
/// Segments whose features are estimated at a time.
constexpr size_t kEstimatedAtOnce = 64;
/// Features beside the vectors of a regression model: products and distances.
constexpr int64_t kRegressionVectors = 6, kReferencelessVectors = 4;

std::vector<double> softmax(std::vector<double> values) {
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
  return values;
}

/// Martins and Astudillo (2016).
std::vector<double> sparsemax(std::vector<double> values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted, std::greater());
  double sum = 0, threshold = 0;
  for (size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const auto count = static_cast<double>(k + 1);
    if (1 + count * sorted[k] > sum) threshold = (sum - 1) / count;
  }
  for (double& value : values) value = std::max(value - threshold, 0.0);
  return values;
}

Tensor weight_of(const io::TensorSource& weights, const std::string& name, const Shape& shape) {
  require(weights.contains(name), "{}: {} is missing, expected with shape {}", weights.name(), name,
          shape.text());
  Tensor tensor = kernels::as_f32(weights.get(name));
  require(tensor.shape() == shape, "{}: {} has shape {}, expected {}", weights.name(), name,
          tensor.shape().text(), shape.text());
  return tensor;
}

double scalar_of(const io::TensorSource& weights, const std::string& name) {
  return static_cast<double>(weight_of(weights, name, {1}).values<float>()[0]);
}

/// How states are shifted and scaled so that all states of a sequence together have mean 0 and
/// variance 1.
struct Standardized {
  double mean = 0, factor = 1;

  Standardized() = default;
  Standardized(const float* states, size_t count) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; ++i) sum += static_cast<double>(states[i]);
    mean = sum / static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      const double distance = static_cast<double>(states[i]) - mean;
      squares += distance * distance;
    }
    factor = 1 / std::sqrt(squares / static_cast<double>(count) + 1e-12);
  }
};

void append_products(std::vector<float>& features, const std::vector<float>& a,
                     const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) features.push_back(a[i] * b[i]);
}

void append_distances(std::vector<float>& features, const std::vector<float>& a,
                      const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) features.push_back(std::abs(a[i] - b[i]));
}

float activated(CometSettings::Activation activation, float x) {
  switch (activation) {
    case CometSettings::Activation::tanh:
      return std::tanh(x);
    case CometSettings::Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case CometSettings::Activation::none:
      break;
  }
  return x;
}

void activate(CometSettings::Activation activation, Tensor& x) {
  float* const values = x.data<float>();
  for (int64_t i = 0; i < x.elements(); ++i) values[i] = activated(activation, values[i]);
}

}  // namespace

CometScorer::CometScorer(const model::Transformer& encoder, text::Tokenizer tokenizer,
                         CometSettings settings, const io::TensorSource& weights)
    : encoder_(encoder),
      tokenizer_(std::move(tokenizer)),
      settings_(std::move(settings)),
      max_tokens_(encoder.config().first_position + encoder.config().max_positions - 2) {
  const int64_t layers = encoder.config().encoder_layers;
  require(!settings_.layer || *settings_.layer <= layers,
          "the layer to pool is {}, expected 0 to {}", settings_.layer.value_or(0), layers);
  const int64_t vectors = settings_.kind == CometSettings::Kind::regression ? kRegressionVectors
                          : settings_.kind == CometSettings::Kind::referenceless
                              ? kReferencelessVectors
                              : 1;
  std::vector<int64_t> sizes = {vectors * encoder.config().d_model};
  sizes.insert(sizes.end(), settings_.hidden_sizes.begin(), settings_.hidden_sizes.end());
  sizes.push_back(1);
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    // Each is followed by its activation and by dropout in torch's Sequential.
    estimator_.emplace_back(parameters_, fmt::format("estimator.ff.{}", 3 * i),
                            nn::Linear::Sizes{sizes[i], sizes[i + 1]}, WeightRole::head);
  load(weights);
}

void CometScorer::load(const io::TensorSource& weights) {
  for (Parameter& parameter : parameters_.all())
    parameter.value = weight_of(weights, parameter.name, parameter.shape);
  if (settings_.layer) return;
  for (int64_t layer = 0; layer <= encoder_.config().encoder_layers; ++layer)
    layer_weights_.push_back(
        scalar_of(weights, fmt::format("layerwise_attention.scalar_parameters.{}", layer)));
  layer_weights_ = settings_.sparsemax ? sparsemax(layer_weights_) : softmax(layer_weights_);
  const double gamma = scalar_of(weights, "layerwise_attention.gamma");
  for (double& weight : layer_weights_) weight *= gamma;
}

bool CometScorer::needs_reference() const {
  return settings_.kind == CometSettings::Kind::regression ||
         (settings_.kind == CometSettings::Kind::unified && !settings_.reads_source);
}

bool CometScorer::reads_reference() const {
  return settings_.kind == CometSettings::Kind::regression ||
         (settings_.kind == CometSettings::Kind::unified && settings_.reads_reference);
}

/// unbabel-comet leaves room for two tokens more than there must be.
CometScorer::Ids CometScorer::read(std::string_view text) const {
  return ids_within(tokenizer_, text, {max_tokens_ - 2});
}

/// <s> translation </s></s> source </s></s> reference </s>, without padding tokens.
CometScorer::Ids CometScorer::joined(std::span<const Ids* const> texts) const {
  const int32_t pad = encoder_.config().pad_id;
  Ids sequence;
  size_t own = 0;
  for (const Ids* text : texts) {
    Ids ids = *text;
    std::erase(ids, pad);
    require(ids.size() >= 2, "the tokenizer has no special tokens around a text");
    own += ids.size() - 2;
    if (!sequence.empty()) ids.front() = ids.back();
    sequence.insert(sequence.end(), ids.begin(), ids.end());
  }
  const auto room = static_cast<size_t>(max_tokens_);
  if (own + 1 + 2 * texts.size() > room) sequence.resize(std::min(sequence.size(), room));
  return sequence;
}

CometScorer::Vector CometScorer::mixed(std::span<const float* const> layers, size_t rows) const {
  const size_t count = rows * static_cast<size_t>(encoder_.config().d_model);
  if (settings_.layer) {
    const float* const states = layers[static_cast<size_t>(*settings_.layer)];
    return {states, states + count};
  }
  std::vector<double> sums(count);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (layer_weights_[layer] == 0) continue;
    const float* const states = layers[layer];
    const Standardized norm = settings_.layer_norm ? Standardized(states, count) : Standardized();
    const double factor = layer_weights_[layer] * norm.factor;
    for (size_t i = 0; i < count; ++i)
      sums[i] += factor * (static_cast<double>(states[i]) - norm.mean);
  }
  return {sums.begin(), sums.end()};
}

/// The vector of a sequence from the states of its layers, [T, D] each.
CometScorer::Vector CometScorer::pooled(std::span<const float* const> layers,
                                        std::span<const int32_t> ids) const {
  const auto width = static_cast<size_t>(encoder_.config().d_model);
  if (settings_.pooling == CometSettings::Pooling::last_layer)
    return {layers.back(), layers.back() + width};
  Vector states = mixed(layers, ids.size());
  const bool largest = settings_.pooling == CometSettings::Pooling::maximum;
  if (settings_.pooling == CometSettings::Pooling::first) {
    states.resize(width);
    return states;
  }
  std::vector<double> result(width, largest ? -std::numeric_limits<double>::infinity() : 0.0);
  for (size_t row = 0; row < ids.size(); ++row) {
    // A padding token that a text spells is masked, but counts in the mean.
    if (ids[row] == encoder_.config().pad_id) continue;
    for (size_t k = 0; k < width; ++k) {
      const auto value = static_cast<double>(states[row * width + k]);
      result[k] = largest ? std::max(result[k], value)
                          : result[k] + value / static_cast<double>(ids.size());
    }
  }
  return {result.begin(), result.end()};
}

std::vector<CometScorer::Vector> CometScorer::embed(std::span<const Ids> sequences) const {
  std::vector<int64_t> lengths;
  for (const Ids& ids : sequences) lengths.push_back(std::ssize(ids));
  std::vector<Vector> vectors(sequences.size());
  const auto run = [&](std::span<const int64_t> members) {
    Ids ids, offsets{0};
    for (const int64_t member : members)
      data::append_sequence(sequences[static_cast<size_t>(member)], ids, offsets);
    Context context;
    const std::vector<Tensor> states = encoder_.encoder_layer_states(context, {ids, offsets});
    for (size_t b = 0; b < members.size(); ++b) {
      std::vector<const float*> layers;
      for (const Tensor& layer : states)
        layers.push_back(layer.data<float>() + offsets[b] * layer.cols());
      vectors[static_cast<size_t>(members[b])] =
          pooled(layers, sequences[static_cast<size_t>(members[b])]);
    }
  };
  data::run_batches(
      lengths,
      {.max_per_batch = data::tokens_per_batch(0, false), .min_per_thread = kMinCometTokens}, run);
  return vectors;
}

std::vector<double> CometScorer::estimate(const std::vector<Vector>& features) const {
  std::vector<double> scores;
  for (size_t first = 0; first < features.size(); first += kEstimatedAtOnce) {
    const size_t rows = std::min(kEstimatedAtOnce, features.size() - first);
    Tensor x =
        Tensor::zeros({static_cast<int64_t>(rows), static_cast<int64_t>(features.front().size())});
    for (size_t row = 0; row < rows; ++row)
      std::ranges::copy(features[first + row], x.data<float>() + row * features.front().size());
    Context context;
    for (size_t i = 0; i < estimator_.size(); ++i) {
      x = estimator_[i].forward(context, x);
      activate(i + 1 < estimator_.size() ? settings_.activation : settings_.final_activation, x);
    }
    for (const float score : x.values<float>()) {
      require(std::isfinite(score), "the model's output is not finite: its weights are damaged");
      scores.push_back(static_cast<double>(score));
    }
  }
  return scores;
}

std::vector<double> CometScorer::score_vectors(std::span<const CometSegment> segments) const {
  const bool referenced = reads_reference();
  const size_t count = segments.size();
  std::vector<Ids> sequences((referenced ? 3 : 2) * count);
  data::read_inputs("segment", count, 1, [&](size_t i) {
    sequences[i] = read(segments[i].source);
    sequences[count + i] = read(segments[i].translation);
    if (referenced) sequences[2 * count + i] = read(segments[i].reference);
  });
  const std::vector<Vector> vectors = embed(sequences);
  std::vector<Vector> features(count);
  for (size_t i = 0; i < count; ++i) {
    const Vector &source = vectors[i], &translation = vectors[count + i];
    Vector& own = features[i];
    own = translation;
    if (referenced) {
      const Vector& reference = vectors[2 * count + i];
      own.insert(own.end(), reference.begin(), reference.end());
      append_products(own, translation, reference);
      append_distances(own, translation, reference);
    } else {
      own.insert(own.end(), source.begin(), source.end());
    }
    append_products(own, translation, source);
    append_distances(own, translation, source);
  }
  return estimate(features);
}

std::vector<double> CometScorer::score_sequences(std::span<const CometSegment> segments,
                                                 bool with_references) const {
  const bool source = settings_.reads_source, reference = reads_reference() && with_references;
  // Beside each other, or with both also the translation with each of them.
  const size_t per_segment = source && reference ? 3 : 1;
  std::vector<Ids> sequences(per_segment * segments.size());
  data::read_inputs("segment", segments.size(), 1, [&](size_t i) {
    const Ids translation = read(segments[i].translation);
    const Ids of_source = source ? read(segments[i].source) : Ids();
    const Ids of_reference = reference ? read(segments[i].reference) : Ids();
    const auto join = [&](std::vector<const Ids*> texts, size_t place) {
      sequences[per_segment * i + place] = joined(texts);
    };
    if (per_segment == 3) join({&translation, &of_source, &of_reference}, 2);
    if (source) join({&translation, &of_source}, 0);
    if (reference) join({&translation, &of_reference}, per_segment == 3 ? 1 : 0);
  });
  const std::vector<double> each = estimate(embed(sequences));
  std::vector<double> scores;
  for (size_t i = 0; i < each.size(); i += per_segment)
    scores.push_back(std::accumulate(&each[i], &each[i] + per_segment, 0.0) /
                     static_cast<double>(per_segment));
  return scores;
}

std::vector<double> CometScorer::score(std::span<const CometSegment> segments,
                                       bool with_references) const {
  return settings_.kind == CometSettings::Kind::unified ? score_sequences(segments, with_references)
                                                        : score_vectors(segments);
}

}  // namespace heed::tasks
