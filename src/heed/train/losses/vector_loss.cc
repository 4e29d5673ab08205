#include "heed/train/losses/vector_loss.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "heed/base/error.h"
#include "heed/kernels/matmul.h"
#include "heed/train/losses/compared_vectors.h"
#include "heed/train/losses/multi_vector_loss.h"
#include "heed/train/losses/score_losses.h"

namespace heed::train {
namespace {

using data::TextGroups;
using data::VectorLoss;

std::vector<double> infonce(const TextPlaces& places, ComparedVectors& vectors) {
  std::vector<int32_t> queries;
  for (size_t i = 0; i < places.count(); ++i)
    queries.push_back(static_cast<int32_t>(places.begin(i)));
  const std::vector<int32_t> candidates = candidates_of(places);
  const Tensor a = rows_of(vectors.x, queries), b = rows_of(vectors.x, candidates);
  Tensor cosines = Tensor::empty({a.rows(), b.rows()});
  kernels::matmul({a}, {b, true}, {}, cosines);
  std::vector<double> losses = contrast(places, places.groups_.options.scale, candidates, cosines);
  Tensor da = Tensor::empty(a.shape()), db = Tensor::empty(b.shape());
  kernels::matmul({cosines}, {b}, {}, da);
  kernels::matmul({cosines, true}, {a}, {}, db);
  add_rows_to(da, queries, vectors.dx);
  add_rows_to(db, candidates, vectors.dx);
  return losses;
}

/// (cos - score)^2.
std::vector<double> cosine(const TextPlaces& places, ComparedVectors& vectors) {
  std::vector<double> losses;
  for (size_t i = 0; i < places.count(); ++i) {
    const size_t a = places.begin(i), b = a + 1;
    const double error = dot(vectors.vector(a), vectors.vector(b)) - places.score(i);
    losses.push_back(error * error);
    const double slope = 2 * error / static_cast<double>(places.count());
    vectors.add(a, slope, vectors.vector(b));
    vectors.add(b, slope, vectors.vector(a));
  }
  return losses;
}

/// log(1 + sum over pairs i, j with score_i < score_j of exp(scale (cos_i - cos_j))), the same for
/// all examples.
std::vector<double> cosent(const TextPlaces& places, ComparedVectors& vectors) {
  const size_t count = places.count();
  std::vector<double> cosines(count), slopes(count);
  for (size_t i = 0; i < count; ++i)
    cosines[i] = places.groups_.options.scale *
                 dot(vectors.vector(places.begin(i)), vectors.vector(places.begin(i) + 1));
  double largest = 0;
  const auto for_each_pair = [&](const auto& visit) {
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        if (places.score(i) < places.score(j)) visit(i, j, cosines[i] - cosines[j]);
  };
  for_each_pair([&](size_t, size_t, double x) { largest = std::max(largest, x); });
  double sum = std::exp(-largest);
  for_each_pair([&](size_t, size_t, double x) { sum += std::exp(x - largest); });
  for_each_pair([&](size_t i, size_t j, double x) {
    const double p = std::exp(x - largest) / sum;
    slopes[i] += p;
    slopes[j] -= p;
  });
  for (size_t i = 0; i < count; ++i) {
    const size_t a = places.begin(i), b = a + 1;
    const double slope = slopes[i] * places.groups_.options.scale;
    vectors.add(a, slope, vectors.vector(b));
    vectors.add(b, slope, vectors.vector(a));
  }
  return std::vector<double>(count, largest + std::log(sum));
}

/// A distance of two texts. add_gradient() adds `slope` times its gradient.
class TextDistance {
 public:
  TextDistance(data::Distance kind, ComparedVectors& vectors, size_t a, size_t b)
      : kind_(kind), vectors_(vectors), a_(a), b_(b) {
    const auto x = vectors.vector(a), y = vectors.vector(b);
    if (kind == data::Distance::cosine) {
      value_ = 1 - dot(x, y);
      return;
    }
    // As PyTorch's pairwise_distance: the norm of x - y + 1e-6.
    for (size_t i = 0; i < x.size(); ++i) {
      difference_.push_back(x[i] - y[i] + 1e-6f);
      value_ += static_cast<double>(difference_[i]) * static_cast<double>(difference_[i]);
    }
    value_ = std::sqrt(value_);
  }
  double value() const { return value_; }
  void add_gradient(double slope) {
    if (kind_ == data::Distance::cosine) {
      vectors_.add(a_, -slope, vectors_.vector(b_));
      vectors_.add(b_, -slope, vectors_.vector(a_));
      return;
    }
    if (value_ == 0) return;
    vectors_.add(a_, slope / value_, difference_);
    vectors_.add(b_, -slope / value_, difference_);
  }

 private:
  data::Distance kind_;
  ComparedVectors& vectors_;
  size_t a_, b_;
  std::vector<float> difference_ = {};
  double value_ = 0;
};

/// max(0, d(query, document) - d(query, negative) + margin), the mean over an example's negatives.
std::vector<double> triplet(const TextPlaces& places, ComparedVectors& vectors) {
  const data::VectorLossOptions& options = places.groups_.options;
  std::vector<double> losses(places.count());
  for (size_t i = 0; i < places.count(); ++i) {
    const size_t query = places.begin(i), negatives = places.texts(i) - 2;
    const double each = 1 / static_cast<double>(negatives);
    TextDistance near(options.distance, vectors, query, query + 1);
    for (size_t n = 0; n < negatives; ++n) {
      TextDistance far(options.distance, vectors, query, query + 2 + n);
      const double loss = near.value() - far.value() + options.margin;
      if (loss <= 0) continue;
      losses[i] += each * loss;
      near.add_gradient(each / static_cast<double>(places.count()));
      far.add_gradient(-each / static_cast<double>(places.count()));
    }
  }
  return losses;
}

/// A loss of the dot products of each query with its document and negatives.
template <typename Loss>
std::vector<double> of_dot_products(const TextPlaces& places, ComparedVectors& vectors,
                                    const Loss& loss) {
  const size_t texts = places.groups_.texts.size();
  std::vector<double> scores(texts), slopes(texts);
  const auto for_each_candidate = [&](const auto& visit) {
    for (size_t i = 0; i < places.count(); ++i)
      for (size_t text = 1; text < places.texts(i); ++text)
        visit(places.begin(i), places.begin(i) + text);
  };
  for_each_candidate([&](size_t query, size_t text) {
    scores[text] = dot(vectors.vector(query), vectors.vector(text));
  });
  std::vector<double> losses = loss(places, TextScores{scores, slopes});
  for_each_candidate([&](size_t query, size_t text) {
    vectors.add(query, slopes[text], vectors.vector(text));
    vectors.add(text, slopes[text], vectors.vector(query));
  });
  return losses;
}

/// The mean square of the differences from a teacher's vector.
std::vector<double> distill(const TextPlaces& places, ComparedVectors& vectors) {
  std::vector<double> losses(places.count());
  const size_t width = vectors.width();
  for (size_t i = 0; i < places.count(); ++i) {
    const auto x = vectors.vector(places.begin(i));
    std::vector<float> error(width);
    for (size_t k = 0; k < width; ++k)
      error[k] = static_cast<float>(static_cast<double>(x[k]) - places.score(i, k));
    losses[i] = dot(error, error) / static_cast<double>(width);
    vectors.add(places.begin(i), 2.0 / static_cast<double>(width * places.count()), error);
  }
  return losses;
}

std::vector<double> losses_of(const TextPlaces& places, ComparedVectors& vectors) {
  switch (places.groups_.options.loss) {
    case VectorLoss::infonce:
      return infonce(places, vectors);
    case VectorLoss::cosine:
      return cosine(places, vectors);
    case VectorLoss::cosent:
      return cosent(places, vectors);
    case VectorLoss::triplet:
      return triplet(places, vectors);
    case VectorLoss::margin_mse:
      return of_dot_products(places, vectors, margin_mse);
    case VectorLoss::kl_divergence:
      return of_dot_products(places, vectors, kl_divergence);
    case VectorLoss::distill:
      return distill(places, vectors);
    case VectorLoss::none:
      break;
  }
  fail("texts are compared without a loss");
}

/// Adds `weight` times the squared length of the mean of some vectors to the losses.
void add_flops(double weight, std::span<const size_t> texts, ComparedVectors& vectors,
               std::vector<double>& losses) {
  std::vector<double> mean(vectors.width());
  const double each = 1 / static_cast<double>(texts.size());
  for (const size_t text : texts)
    for (size_t k = 0; k < mean.size(); ++k)
      mean[k] += each * static_cast<double>(vectors.vector(text)[k]);
  double flops = 0;
  std::vector<float> slope;
  for (const double one : mean) {
    flops += one * one;
    slope.push_back(static_cast<float>(2 * weight * each * one));
  }
  for (const size_t text : texts) vectors.add(text, 1, slope);
  for (double& loss : losses) loss += weight * flops;
}

void add_flops(const TextPlaces& places, ComparedVectors& vectors, std::vector<double>& losses) {
  std::vector<size_t> queries, documents;
  for (size_t i = 0; i < places.count(); ++i) {
    queries.push_back(places.begin(i));
    for (size_t text = 1; text < places.texts(i); ++text)
      documents.push_back(places.begin(i) + text);
  }
  add_flops(places.groups_.options.query_flops, queries, vectors, losses);
  add_flops(places.groups_.options.document_flops, documents, vectors, losses);
}

/// Whether vectors are compared at length 1.
bool compares_directions(const data::VectorLossOptions& options) {
  if (options.kind != data::VectorKind::dense)
    return options.kind == data::VectorKind::multi_vector;
  if (options.normalize) return true;
  switch (options.loss) {
    case VectorLoss::infonce:
    case VectorLoss::cosine:
    case VectorLoss::cosent:
      return true;
    case VectorLoss::triplet:
      return options.distance == data::Distance::cosine;
    default:
      return false;
  }
}

}  // namespace

VectorLossResult vector_loss(const Tensor& vectors, const TextGroups& groups) {
  const data::VectorLossOptions& options = groups.options;
  const TextPlaces places(groups);
  require(vectors.rows() == groups.vectors(), "there are {} vectors, the {} texts have {}",
          vectors.rows(), groups.texts.size(), groups.vectors());
  const bool sparse = options.kind == data::VectorKind::sparse,
             several = options.kind == data::VectorKind::multi_vector;
  VectorLossResult result{
      .losses = std::vector<double>(places.count()),
      .gradient = Tensor::zeros(vectors.shape()),
      .likelihood = options.loss == VectorLoss::infonce && options.dims.empty() && !sparse};
  const auto add = [&](int64_t width, bool normalized, double weight) {
    ComparedVectors compared(vectors, width, normalized);
    std::vector<double> losses =
        several ? multi_vector_losses(places, compared) : losses_of(places, compared);
    if (sparse) add_flops(places, compared, losses);
    for (size_t i = 0; i < losses.size(); ++i) result.losses[i] += weight * losses[i];
    compared.add_gradient(weight, result.gradient);
  };
  if (options.dims.empty()) add(vectors.cols(), compares_directions(options), 1);
  for (size_t i = 0; i < options.dims.size(); ++i)
    add(options.dims[i], true, options.dim_weights.empty() ? 1 : options.dim_weights[i]);
  return result;
}

}  // namespace heed::train
