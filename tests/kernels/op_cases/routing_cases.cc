#include "heed/kernels/routing.h"

#include <algorithm>
#include <cmath>

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

struct RoutingProblem {
  std::string name;
  int64_t tokens, n_experts;
  RoutingOptions options;
  bool biased = false;
  bool tied = false;  // probabilities and biases are few different numbers
};

Tensor positive_numbers(const Shape& shape, uint64_t seed, bool tied) {
  Tensor x = normals(shape, seed);
  for (float& value : std::span(x.data<float>(), static_cast<size_t>(x.elements())))
    value = tied ? std::ceil(std::abs(value) * 2.0f) / 16.0f : std::abs(value) + 0.001f;
  return x;
}

OpCase routing_case(const RoutingProblem& problem) {
  const Shape shape{problem.tokens, problem.n_experts};
  const Tensor p = positive_numbers(shape, 81, problem.tied);
  const Tensor biases =
      problem.biased ? positive_numbers({problem.n_experts}, 82, problem.tied) : Tensor();
  return {"select_experts of " + problem.name,
          [=] {
            const Tensor probabilities = input(p);
            const Shape selected{problem.tokens, problem.options.top_k};
            Tensor experts = result(selected, DType::i32), weights = result(selected);
            select_experts(probabilities, input(biases), problem.options, experts, weights);
            Tensor d_probabilities = result(shape);
            select_experts_backward(probabilities, experts, problem.options,
                                    normal_input(selected, 83), d_probabilities);
            return std::vector<OpResult>{
                {"experts", experts},
                {"weights", weights, problem.options.scale},
                {"d_probabilities", d_probabilities, 4.0 * problem.options.scale}};
          },
          true};
}

/// The result is the experts of rows of NaN, and whether those of a row with some are K different
/// ones.
OpCase routing_of_nan_case(int64_t n_group) {
  constexpr int64_t kTokens = 9, kExperts = 8, kTopK = 3;
  Tensor p = positive_numbers({kTokens, kExperts}, 84, false);
  for (int64_t n = 0; n < kTokens; ++n)
    for (int64_t e = 0; e < kExperts; ++e)
      if (e == n || e == (n + 3) % kExperts || n + 1 == kTokens)
        p.data<float>()[n * kExperts + e] = std::nanf("");
  return {"select_experts of NaN in " + std::to_string(n_group) + " groups", [=] {
            Tensor experts = result({kTokens, kTopK}, DType::i32);
            Tensor weights = result({kTokens, kTopK});
            select_experts(input(p), {},
                           {.top_k = kTopK, .n_group = n_group, .topk_group = n_group / 2 + 1},
                           experts, weights);
            const DeviceScope host(nullptr);
            const Tensor found = experts.to(nullptr);
            Tensor valid = Tensor::zeros({kTokens - 1}, DType::i32);
            for (int64_t n = 0; n < kTokens - 1; ++n) {
              const auto row =
                  found.values<int32_t>().subspan(static_cast<size_t>(n * kTopK), kTopK);
              valid.data<int32_t>()[n] =
                  row.front() >= 0 && row.back() < kExperts &&
                  std::ranges::adjacent_find(row, std::greater_equal()) == row.end();
            }
            return std::vector<OpResult>{{"valid", valid},
                                         {"all NaN", found.row_slice(kTokens - 1, kTokens)}};
          }};
}

const AddOpCases routing_cases([] {
  const std::vector<RoutingProblem> problems{
      {"DeepSeek-V3",
       4,
       256,
       {.top_k = 8,
        .normalize = true,
        .scale = 2.5f,
        .n_group = 8,
        .topk_group = 4,
        .best_of_group = 2},
       true},
      {"DeepSeek-V2", 4, 160, {.top_k = 6, .scale = 16.0f, .n_group = 8, .topk_group = 3}},
      {"Qwen3-MoE", 5, 128, {.top_k = 8, .normalize = true}},
      {"gpt-oss", 9, 32, {.top_k = 4, .normalize = true}},
      {"ties", 20, 40, {.top_k = 5, .normalize = true}, false, true},
      {"ties with a bias",
       20,
       12,
       {.top_k = 3, .n_group = 4, .topk_group = 2, .best_of_group = 2},
       true,
       true},
      {"many groups",
       3,
       120,
       {.top_k = 50, .normalize = true, .n_group = 40, .topk_group = 20, .best_of_group = 9},
       false,
       true},
      {"one of many", 5, 45, {.top_k = 1}},
      {"one of one", 3, 1, {.top_k = 1, .normalize = true}, true},
      {"all", 3, 70, {.top_k = 70, .normalize = true, .scale = 0.5f}},
      {"many tokens", 200, 64, {.top_k = 6, .normalize = true}},
      {"no tokens", 0, 8, {.top_k = 2}, true},
  };
  std::vector<OpCase> cases;
  for (const RoutingProblem& problem : problems) cases.push_back(routing_case(problem));
  for (const int64_t n_group : {1, 4}) cases.push_back(routing_of_nan_case(n_group));
  return cases;
});

}  // namespace
}  // namespace heed::kernels
