#include "heed/kernels/attention.h"

#include "heed/kernels/quantize.h"
#include "tests/kernels/attention_problem.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// An attention problem whose operands are where the case runs; keys and values are in `cached`.
AttentionProblem problem_here(const AttentionCase& c, DType cached) {
  Device* const device = current_device();
  const DeviceScope host(nullptr);
  AttentionProblem problem(c);
  const auto kept = [&](const Tensor& x) {
    Tensor y = Tensor::empty(x.shape(), cached);
    reference::quantize_weighted(x, {}, y);
    return y.to(device);
  };
  problem.q = problem.q.to(device);
  problem.k = kept(problem.k);
  problem.v = kept(problem.v);
  problem.bias = problem.bias.to(device);
  problem.sinks = problem.sinks.to(device);
  return problem;
}

struct AttentionOutput {
  explicit AttentionOutput(const AttentionForward& in)
      : out(result({in.q.rows(), in.options.n_heads * in.v.cols() / in.options.n_kv_heads},
                   in.q.dtype())),
        logsumexp(result({in.q.rows(), in.options.n_heads})) {
    attention_forward(in, out, logsumexp);
  }
  Tensor out, logsumexp;
};

/// With bf16 queries, weights are rounded to bf16, too.
double out_magnitude(DType queries) { return queries == DType::bf16 ? 800.0 : 1.0; }

OpCase forward_case(const std::string& name, AttentionCase c, DType queries, DType cached) {
  c.dtype = queries;
  return {"attention: " + name + ", " + std::string(name_of(queries)) + " on " +
              std::string(name_of(cached)),
          [=] {
            const AttentionProblem problem = problem_here(c, cached);
            const AttentionOutput found(problem.in());
            return std::vector<OpResult>{{"out", found.out, out_magnitude(queries)},
                                         {"logsumexp", found.logsumexp}};
          }};
}

OpCase weights_case(const std::string& name, AttentionCase c, DType queries) {
  c.dtype = queries;
  return {"attention weights: " + name + " " + std::string(name_of(queries)), [=] {
            const AttentionProblem problem = problem_here(c, queries);
            std::vector<OpResult> results;
            for (int64_t b = 0; b < problem.spans.sequences(); ++b)
              results.push_back(
                  {"weights", attention_weights(problem.in(),
                                                {b, problem.queries(b) / 3, problem.queries(b)})});
            return results;
          }};
}

/// How many rows of `whole` differ from those of `part`, which begin at row `first`.
int32_t different_rows(const Tensor& whole, const Tensor& part, int64_t first) {
  const Tensor a = whole.row_slice(first, first + part.rows()).to(nullptr), b = part.to(nullptr);
  int32_t count = 0;
  for (int64_t row = 0; row < a.rows(); ++row)
    if (!same_bits(a.row_slice(row, row + 1), b.row_slice(row, row + 1))) ++count;
  return count;
}

/// Rows of a causal pass against the same rows computed in passes of fewer, and in a batch.
OpCase promise_case(AttentionCase c, DType queries, DType cached,
                    std::vector<std::pair<int32_t, int32_t>> passes) {
  c.dtype = queries;
  c.causal = true;
  return {
      "attention: " + c.name + " alone and together, " + std::string(name_of(queries)) + " on " +
          std::string(name_of(cached)),
      [=] {
        const AttentionProblem whole = problem_here(c, cached);
        const AttentionOutput all(whole.in());
        const int32_t keys = c.kv_lengths[0], before = keys - c.q_lengths[0];
        int32_t different = 0;
        AttentionMetadata batch{{0}, {}, {}, whole.spans.kv_rows};
        for (const auto& [begin, end] : passes) {
          const AttentionMetadata spans{{0, end - begin}, {0}, {before + end}, whole.spans.kv_rows};
          const Tensor q = whole.q.row_slice(begin, end);
          const AttentionOutput part(
              {q, whole.k, whole.v, spans, whole.options, whole.bias, whole.sinks});
          different += different_rows(all.out, part.out, begin);
          different += different_rows(all.logsumexp, part.logsumexp, begin);
        }
        // All first rows of the passes as a batch of sequences that share their keys.
        Tensor q = result({std::ssize(passes), whole.q.cols()}, queries);
        for (const auto& [begin, end] : passes) {
          const int32_t i = batch.q_offsets.back();
          q.row_slice(i, i + 1).assign(whole.q.row_slice(begin, begin + 1));
          batch.q_offsets.push_back(i + 1);
          batch.kv_begin.push_back(0);
          batch.kv_end.push_back(before + begin + 1);
        }
        const AttentionOutput rows(
            {q, whole.k, whole.v, batch, whole.options, whole.bias, whole.sinks});
        for (size_t i = 0; i < passes.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          different += different_rows(all.out, rows.out.row_slice(at, at + 1), passes[i].first);
        }
        const DeviceScope host(nullptr);
        return std::vector<OpResult>{
            {"different rows", Tensor::full({1}, static_cast<float>(different))}};
      }};
}

std::vector<OpCase> type_cases(DType queries, DType cached) {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& name, const AttentionCase& c) {
    cases.push_back(forward_case(name, c, queries, cached));
  };
  AttentionCase c{.q_lengths = {17, 1, 35, 0},
                  .kv_lengths = {17, 70, 100, 3},
                  .n_heads = 4,
                  .n_kv_heads = 2,
                  .d = 32,
                  .dv = 64,
                  .causal = true,
                  .gathered = true};
  add("ragged", c);
  c.causal = false, c.window = 9, c.soft_cap = 1.5f, c.reach = 7, c.sinks = true;
  add("everything", c);
  c = {.q_lengths = {1, 3}, .kv_lengths = {600, 1100}, .n_heads = 4, .n_kv_heads = 1, .d = 64};
  add("splits", c);
  c.causal = true, c.window = 300, c.sinks = true;
  add("splits and a window", c);
  return cases;
}

std::vector<OpCase> shape_cases_of(DType dtype) {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& name, const AttentionCase& c) {
    cases.push_back(forward_case(name, c, dtype, dtype));
  };
  add("more queries than keys", {.q_lengths = {20, 4},
                                 .kv_lengths = {5, 0},
                                 .n_heads = 2,
                                 .n_kv_heads = 1,
                                 .d = 16,
                                 .dv = 16,
                                 .causal = true});
  add("more queries than keys and sinks", {.q_lengths = {20, 4},
                                           .kv_lengths = {5, 0},
                                           .n_heads = 2,
                                           .n_kv_heads = 1,
                                           .d = 16,
                                           .dv = 16,
                                           .causal = true,
                                           .sinks = true});
  add("odd widths", {.q_lengths = {17, 2},
                     .kv_lengths = {17, 70},
                     .n_heads = 3,
                     .n_kv_heads = 3,
                     .d = 3,
                     .dv = 5});
  add("values wider",
      {.q_lengths = {9}, .kv_lengths = {70}, .n_heads = 2, .n_kv_heads = 1, .d = 24, .dv = 100});
  add("dropout", {.q_lengths = {30, 3},
                  .kv_lengths = {30, 70},
                  .n_heads = 2,
                  .n_kv_heads = 2,
                  .d = 32,
                  .dv = 32,
                  .dropout = 0.3f});
  add("latent", {.q_lengths = {2, 5},
                 .kv_lengths = {70, 5},
                 .n_heads = 4,
                 .n_kv_heads = 1,
                 .d = 576,
                 .dv = 576,
                 .causal = true});
  add("heads of 128", {.q_lengths = {40},
                       .kv_lengths = {90},
                       .n_heads = 2,
                       .n_kv_heads = 1,
                       .d = 128,
                       .dv = 128,
                       .causal = true});
  add("heads of 96",
      {.q_lengths = {20}, .kv_lengths = {70}, .n_heads = 1, .n_kv_heads = 1, .d = 96, .dv = 96});
  add("keys wider", {.q_lengths = {20},
                     .kv_lengths = {70},
                     .n_heads = 1,
                     .n_kv_heads = 1,
                     .d = 192,
                     .dv = 128,
                     .causal = true});
  add("heads of 256", {.q_lengths = {20, 1},
                       .kv_lengths = {70, 130},
                       .n_heads = 1,
                       .n_kv_heads = 1,
                       .d = 256,
                       .dv = 256,
                       .causal = true});
  return cases;
}

/// A row has the bits that it has alone, in a batch, in a prefill and in any chunk of it.
std::vector<OpCase> promise_cases() {
  std::vector<OpCase> cases;
  const AttentionCase short_one{.name = "short",
                                .q_lengths = {70},
                                .kv_lengths = {70},
                                .n_heads = 4,
                                .n_kv_heads = 2,
                                .d = 64,
                                .dv = 64,
                                .gathered = true};
  const AttentionCase long_one{.name = "long",
                               .q_lengths = {40},
                               .kv_lengths = {1210},
                               .n_heads = 2,
                               .n_kv_heads = 1,
                               .d = 32,
                               .dv = 32,
                               .window = 700,
                               .sinks = true};
  const AttentionCase wide_one{.name = "wide",
                               .q_lengths = {75},
                               .kv_lengths = {330},
                               .n_heads = 4,
                               .n_kv_heads = 2,
                               .d = 128,
                               .dv = 128,
                               .gathered = true};
  const AttentionCase wider_keys{.name = "wider keys",
                                 .q_lengths = {20},
                                 .kv_lengths = {150},
                                 .n_heads = 2,
                                 .n_kv_heads = 1,
                                 .d = 192,
                                 .dv = 128,
                                 .sinks = true};
  const AttentionCase odd_pairs{.name = "96",
                                .q_lengths = {40},
                                .kv_lengths = {200},
                                .n_heads = 1,
                                .n_kv_heads = 1,
                                .d = 72,
                                .dv = 96};
  for (const DType queries : kFloating)
    for (const DType cached : {queries, DType::q8_0}) {
      cases.push_back(
          promise_case(short_one, queries, cached, {{0, 1}, {3, 20}, {63, 66}, {69, 70}}));
      cases.push_back(promise_case(long_one, queries, cached, {{0, 1}, {5, 8}, {39, 40}}));
    }
  for (const DType queries : kFloating) {
    cases.push_back(
        promise_case(wide_one, queries, queries, {{0, 1}, {3, 20}, {63, 66}, {70, 75}}));
    cases.push_back(promise_case(wider_keys, queries, queries, {{0, 1}, {3, 6}, {19, 20}}));
    cases.push_back(promise_case(odd_pairs, queries, queries, {{0, 1}, {3, 12}, {39, 40}}));
  }
  return cases;
}

const AddOpCases attention_cases([] {
  std::vector<OpCase> cases;
  const auto add_all = [&](std::vector<OpCase> more) {
    for (OpCase& of : more) cases.push_back(std::move(of));
  };
  for (const DType queries : kFloating) {
    add_all(type_cases(queries, queries));
    add_all(shape_cases_of(queries));
    add_all(type_cases(queries, DType::q8_0));
    cases.push_back(weights_case("causal",
                                 {.q_lengths = {17, 3},
                                  .kv_lengths = {17, 70},
                                  .n_heads = 4,
                                  .n_kv_heads = 2,
                                  .d = 24,
                                  .dv = 24,
                                  .causal = true,
                                  .gathered = true,
                                  .reach = 5},
                                 queries));
    cases.push_back(weights_case("sinks",
                                 {.q_lengths = {3},
                                  .kv_lengths = {150},
                                  .n_heads = 2,
                                  .n_kv_heads = 2,
                                  .d = 8,
                                  .dv = 8,
                                  .window = 30,
                                  .soft_cap = 2.0f,
                                  .sinks = true},
                                 queries));
  }
  add_all(type_cases(DType::f32, DType::bf16));
  add_all(promise_cases());
  return cases;
});

}  // namespace
}  // namespace heed::kernels
