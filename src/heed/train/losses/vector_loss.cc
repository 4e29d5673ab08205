#include "heed/train/losses/vector_loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"

namespace heed::train {
namespace {

using data::TextGroups;
using data::VectorLoss;

constexpr int64_t kRowsPerTask = 16;

/// Vectors of one width and what the loss adds to their gradients.
struct Compared {
  Tensor x;   // [T, d]
  Tensor dx;  // [T, d]

  std::span<const float> vector(size_t text) const {
    return x.values<float>().subspan(text * width(), width());
  }
  /// gradient of text += factor * v.
  void add(size_t text, double factor, std::span<const float> v) {
    float* const to = dx.data<float>() + text * width();
    for (size_t i = 0; i < v.size(); ++i)
      to[i] += static_cast<float>(factor * static_cast<double>(v[i]));
  }
  size_t width() const { return static_cast<size_t>(x.cols()); }
};

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Where the texts of the examples are.
struct Places {
  explicit Places(const TextGroups& groups) : groups_(groups) {}
  size_t count() const { return static_cast<size_t>(groups_.count()); }
  size_t begin(size_t example) const { return static_cast<size_t>(groups_.offsets[example]); }
  size_t texts(size_t example) const { return begin(example + 1) - begin(example); }
  double score(size_t example, size_t number = 0) const {
    const size_t place = example * static_cast<size_t>(groups_.score_count) + number;
    return static_cast<double>(groups_.scores[place]);
  }
  const TextGroups& groups_;
};

/// The documents of all examples, and then their negatives: the texts that are compared with each
/// query. Candidate i is the document of example i.
std::vector<int32_t> candidates_of(const Places& places) {
  std::vector<int32_t> texts;
  for (size_t i = 0; i < places.count(); ++i)
    texts.push_back(static_cast<int32_t>(places.begin(i)) + 1);
  for (size_t i = 0; i < places.count(); ++i)
    for (size_t n = 2; n < places.texts(i); ++n)
      texts.push_back(static_cast<int32_t>(places.begin(i) + n));
  return texts;
}

Tensor rows_of(const Tensor& x, std::span<const int32_t> rows) {
  Tensor y = Tensor::empty({std::ssize(rows), x.cols()});
  float* to = y.data<float>();
  for (const int32_t row : rows) to = std::copy_n(x.data<float>() + row * x.cols(), x.cols(), to);
  return y;
}

void add_rows_to(const Tensor& y, std::span<const int32_t> rows, Tensor& x) {
  const float* from = y.data<float>();
  for (const int32_t row : rows) {
    float* const to = x.data<float>() + row * x.cols();
    for (int64_t i = 0; i < x.cols(); ++i) to[i] += *from++;
  }
}

/// -log softmax(scale * cosines)_i of the query of example i; `cosines` [E, M] become the
/// gradients of the mean by them.
std::vector<double> contrast(const Places& places, const std::vector<int32_t>& candidates,
                             Tensor& cosines) {
  const TextGroups& groups = places.groups_;
  const size_t examples = places.count(), width = candidates.size();
  const double scale = groups.options.scale;
  std::vector<double> losses(examples);
  const auto text = [&](size_t candidate) {
    return groups.texts[static_cast<size_t>(candidates[candidate])];
  };
  parallel_for(static_cast<int64_t>(examples), kRowsPerTask, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      float* const row = cosines.data<float>() + i * width;
      const uint64_t query = groups.texts[places.begin(i)];
      const auto is_answer = [&](size_t j) {
        return j != i &&
               (text(j) == text(i) || (j < examples && groups.texts[places.begin(j)] == query));
      };
      double largest = -1e300, sum = 0;
      for (size_t j = 0; j < width; ++j)
        if (!is_answer(j)) largest = std::max(largest, scale * static_cast<double>(row[j]));
      for (size_t j = 0; j < width; ++j)
        if (!is_answer(j)) sum += std::exp(scale * static_cast<double>(row[j]) - largest);
      losses[i] = std::log(sum) + largest - scale * static_cast<double>(row[i]);
      for (size_t j = 0; j < width; ++j) {
        const double p =
            is_answer(j) ? 0 : std::exp(scale * static_cast<double>(row[j]) - largest) / sum;
        row[j] = static_cast<float>(scale * (p - (j == i ? 1 : 0)) / static_cast<double>(examples));
      }
    }
  });
  return losses;
}

std::vector<double> infonce(const Places& places, Compared& vectors) {
  std::vector<int32_t> queries;
  for (size_t i = 0; i < places.count(); ++i)
    queries.push_back(static_cast<int32_t>(places.begin(i)));
  const std::vector<int32_t> candidates = candidates_of(places);
  const Tensor a = rows_of(vectors.x, queries), b = rows_of(vectors.x, candidates);
  Tensor cosines = Tensor::empty({a.rows(), b.rows()});
  kernels::matmul({a}, {b, true}, {}, cosines);
  std::vector<double> losses = contrast(places, candidates, cosines);
  Tensor da = Tensor::empty(a.shape()), db = Tensor::empty(b.shape());
  kernels::matmul({cosines}, {b}, {}, da);
  kernels::matmul({cosines, true}, {a}, {}, db);
  add_rows_to(da, queries, vectors.dx);
  add_rows_to(db, candidates, vectors.dx);
  return losses;
}

/// (cos - score)^2.
std::vector<double> cosine(const Places& places, Compared& vectors) {
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
std::vector<double> cosent(const Places& places, Compared& vectors) {
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
  TextDistance(data::Distance kind, Compared& vectors, size_t a, size_t b)
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
  Compared& vectors_;
  size_t a_, b_;
  std::vector<float> difference_ = {};
  double value_ = 0;
};

/// max(0, d(query, document) - d(query, negative) + margin), the mean over an example's negatives.
std::vector<double> triplet(const Places& places, Compared& vectors) {
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

/// (query · document - query · negative - score)^2, the mean over an example's negatives.
std::vector<double> margin_mse(const Places& places, Compared& vectors) {
  std::vector<double> losses(places.count());
  for (size_t i = 0; i < places.count(); ++i) {
    const size_t query = places.begin(i), document = query + 1, negatives = places.texts(i) - 2;
    const double each = 1 / static_cast<double>(negatives);
    for (size_t n = 0; n < negatives; ++n) {
      const size_t negative = document + 1 + n;
      const auto q = vectors.vector(query), d = vectors.vector(document),
                 other = vectors.vector(negative);
      const double error = dot(q, d) - dot(q, other) - places.score(i, n);
      losses[i] += each * error * error;
      const double slope = 2 * each * error / static_cast<double>(places.count());
      vectors.add(query, slope, d);
      vectors.add(query, -slope, other);
      vectors.add(document, slope, q);
      vectors.add(negative, -slope, q);
    }
  }
  return losses;
}

/// The mean square of the differences from a teacher's vector.
std::vector<double> distill(const Places& places, Compared& vectors) {
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

std::vector<double> losses_of(const Places& places, Compared& vectors) {
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
      return margin_mse(places, vectors);
    case VectorLoss::distill:
      return distill(places, vectors);
    case VectorLoss::none:
      break;
  }
  fail("texts are compared without a loss");
}

/// Whether a loss compares directions alone.
bool compares_cosines(const data::VectorLossOptions& options) {
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

/// The first numbers of vectors, perhaps at length 1.
class Shortened {
 public:
  Shortened(const Tensor& vectors, int64_t width, bool normalized)
      : compared_{Tensor::empty({vectors.rows(), width}), Tensor::zeros({vectors.rows(), width})},
        lengths_(static_cast<size_t>(normalized ? vectors.rows() : 0)) {
    for (int64_t row = 0; row < vectors.rows(); ++row) {
      const float* const from = vectors.data<float>() + row * vectors.cols();
      float* const to = compared_.x.data<float>() + row * width;
      std::copy_n(from, width, to);
      if (!normalized) continue;
      const std::span<const float> own(to, static_cast<size_t>(width));
      const double length = std::max(std::sqrt(dot(own, own)), 1e-12);
      lengths_[static_cast<size_t>(row)] = length;
      for (int64_t i = 0; i < width; ++i)
        to[i] = static_cast<float>(static_cast<double>(to[i]) / length);
    }
  }
  Compared& compared() { return compared_; }
  /// Adds `weight` times the gradient to that of the whole vectors.
  void add_gradient(double weight, Tensor& gradient) const {
    const size_t width = compared_.width();
    for (size_t row = 0; row < static_cast<size_t>(gradient.rows()); ++row) {
      const auto x = compared_.vector(row);
      const auto dx = compared_.dx.values<float>().subspan(row * width, width);
      const double along = lengths_.empty() ? 0 : dot(x, dx);
      const double factor = lengths_.empty() ? weight : weight / lengths_[row];
      float* const to = gradient.data<float>() + row * static_cast<size_t>(gradient.cols());
      for (size_t i = 0; i < width; ++i)
        to[i] += static_cast<float>(
            factor * (static_cast<double>(dx[i]) - along * static_cast<double>(x[i])));
    }
  }

 private:
  Compared compared_;
  std::vector<double> lengths_;
};

}  // namespace

VectorLossResult vector_loss(const Tensor& vectors, const TextGroups& groups) {
  const data::VectorLossOptions& options = groups.options;
  const Places places(groups);
  require(vectors.rows() == std::ssize(groups.texts), "there are {} vectors for {} texts",
          vectors.rows(), groups.texts.size());
  VectorLossResult result{
      .losses = std::vector<double>(places.count()),
      .gradient = Tensor::zeros(vectors.shape()),
      .likelihood = options.loss == VectorLoss::infonce && options.dims.empty()};
  const auto add = [&](int64_t width, bool normalized, double weight) {
    Shortened shortened(vectors, width, normalized);
    const std::vector<double> losses = losses_of(places, shortened.compared());
    for (size_t i = 0; i < losses.size(); ++i) result.losses[i] += weight * losses[i];
    shortened.add_gradient(weight, result.gradient);
  };
  if (options.dims.empty()) add(vectors.cols(), options.normalize || compares_cosines(options), 1);
  for (size_t i = 0; i < options.dims.size(); ++i)
    add(options.dims[i], true, options.dim_weights.empty() ? 1 : options.dim_weights[i]);
  return result;
}

}  // namespace heed::train
