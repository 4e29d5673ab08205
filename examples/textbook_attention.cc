// Attention with vectors of three numbers, so that every step can be checked on paper.
//
// The query is "cat"; the keys and values are "dog" and two more words. The output is the average
// of the values, weighted by how well each key matches the query.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/softmax.h"

namespace {

using heed::Tensor;

constexpr int64_t kWidth = 3;  // d, the width of queries, keys and values
const std::vector<float> kCat{0.6f, 0.3f, 0.8f};
const std::vector<float> kDog{0.5f, 0.1f, 0.9f};
const float kScale = 1.0f / std::sqrt(static_cast<float>(kWidth));

void print(const char* what, std::span<const float> numbers) {
  fmt::print("{:<38}", what);
  for (const float number : numbers) fmt::print(" {:.3f}", number);
  fmt::print("\n");
}

/// Appends a key parallel to the query with the scaled score q.k / sqrt(d) = `score`.
void append_key(std::vector<float>& keys, float score) {
  float length = 0.0f;
  for (const float x : kCat) length += x * x;
  for (const float x : kCat) keys.push_back(x * score / (length * kScale));
}

/// One formula at a time: score, weights, contribution.
void step_by_step(const Tensor& query, const Tensor& dog) {
  // 1. The score: q.k = 0.6 * 0.5 + 0.3 * 0.1 + 0.8 * 0.9.
  Tensor score = Tensor::empty({1, 1});
  heed::kernels::matmul({query}, {dog, true}, {}, score);
  const float product = score.data<float>()[0];
  print("q.k of cat and dog:", score.values<float>());

  // 2. The sum of d products grows with d. Dividing by sqrt(d) prevents it (variance_of_scores.cc).
  const float scaled = product * kScale;
  print("divided by sqrt(3):", {&scaled, 1});

  // 3. Softmax turns scores into weights, which are positive and sum to 1. The two other words have
  //    the scores 0.2 and -0.8.
  const Tensor scores = Tensor::of({1, 3}, std::vector<float>{scaled, 0.2f, -0.8f});
  Tensor weights = Tensor::empty({1, 3});
  heed::kernels::softmax_forward(scores, weights);
  print("weights, with scores 0.2 and -0.8:", weights.values<float>());

  // 4. Each word contributes its value times its weight.
  std::vector<float> contribution;
  for (const float x : kDog) contribution.push_back(weights.data<float>()[0] * x);
  print("contribution of dog to the output:", contribution);
}

/// The same in one call, softmax(Q K^T / sqrt(d)) V, as in every layer of a Transformer. The values
/// of the two other words are zero, so the output is the contribution of dog.
void in_one_call(const Tensor& query) {
  std::vector<float> keys = kDog, values = kDog;
  append_key(keys, 0.2f);
  append_key(keys, -0.8f);
  values.resize(3 * kWidth, 0.0f);
  const Tensor k = Tensor::of({3, kWidth}, keys), v = Tensor::of({3, kWidth}, values);

  // One query row attends to three key/value rows.
  const auto spans = heed::kernels::AttentionMetadata::cross({0, 1}, {0, 3});
  const heed::kernels::AttentionOptions options{.scale = kScale};
  Tensor out = Tensor::empty({1, kWidth}), log_sum = Tensor::empty({1, 1});
  heed::kernels::attention_forward({query, k, v, spans, options}, out, log_sum);
  const Tensor weights = heed::kernels::attention_weights({query, k, v, spans, options}, {0, 0, 1});
  print("in one call, the weights:", weights.values<float>());
  print("in one call, the output:", out.values<float>());
}

}  // namespace

int main() {
  const Tensor query = Tensor::of({1, kWidth}, kCat);
  step_by_step(query, Tensor::of({1, kWidth}, kDog));
  in_one_call(query);
}
