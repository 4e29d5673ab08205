#include "tests/kernels/attention_problem.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// A problem on the host, with the results of the reference's forward pass. `unread`: rows of k and
/// v after those that the sequences read.
AttentionProblem problem_on_host(const AttentionCase& c, int64_t unread) {
  const DeviceScope host(nullptr);
  AttentionProblem problem(c);
  if (unread > 0) {
    const int64_t rows = problem.k.rows() + unread;
    problem.k = normals({rows, problem.k.cols()}, 2, c.dtype);
    problem.v = normals({rows, problem.v.cols()}, 3, c.dtype);
  }
  reference::attention_forward(problem.in(), problem.out, problem.logsumexp);
  return problem;
}

std::vector<OpResult> differentiate_attention(const AttentionCase& c, int64_t unread) {
  AttentionProblem problem = problem_on_host(c, unread);
  for (Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.d_out, &problem.out,
                         &problem.logsumexp, &problem.bias, &problem.sinks, &problem.d_sinks})
    if (tensor->defined()) *tensor = input(*tensor);
  problem.dq = result(problem.q.shape(), c.dtype);
  problem.dk = result(problem.k.shape(), c.dtype);
  problem.dv = result(problem.v.shape(), c.dtype);
  if (c.reach > 0) problem.d_bias = result(problem.bias.shape());
  attention_backward(problem.in(), problem.out, problem.logsumexp, problem.d_out,
                     problem.gradients());
  // The reference does not round `out`, whose product with its gradient each score's gradient has
  // subtracted.
  const double scores = c.dtype == DType::bf16 ? 1600.0 : 2.0;
  std::vector<OpResult> results{
      {"dq", problem.dq, scores}, {"dk", problem.dk, scores}, {"dv", problem.dv, 2.0}};
  if (c.reach > 0) results.push_back({"d_bias", problem.d_bias, 3.0 * scores});
  if (c.sinks) results.push_back({"d_sinks", problem.d_sinks, 3.0 * scores});
  return results;
}

std::vector<AttentionCase> backward_cases() {
  const Offsets odd{1, 17, 70};
  const AttentionCase plain{.n_heads = 2, .n_kv_heads = 2, .d = 16, .dv = 16};
  const auto with = [&](const std::string& name, const Offsets& q, const Offsets& kv,
                        AttentionCase c) {
    c.name = name;
    c.q_lengths = q;
    c.kv_lengths = kv;
    return c;
  };
  AttentionCase grouped = plain, single = plain;
  grouped.n_heads = 4, grouped.dv = 24, grouped.causal = true;
  single.n_heads = single.n_kv_heads = 1;
  std::vector<AttentionCase> cases{
      with("grouped", odd, odd, grouped),
      with("cross", {3, 20, 0, 70}, {17, 1, 5, 130}, plain),
      with("more queries than keys", {20, 4}, {5, 0}, plain),
      with("nothing", {0}, {0}, plain),
      with("long", {150}, {210}, single),
      with("odd widths", {17, 40}, {17, 40}, {.n_heads = 3, .n_kv_heads = 3, .d = 3, .dv = 5}),
      with("wide", {33}, {65}, {.d = 100, .dv = 72}),
      with("wide values", {20}, {20}, {.n_heads = 2, .d = 24, .dv = 130}),
      with("wide keys", {20}, {20}, {.n_heads = 2, .d = 140, .dv = 24})};
  for (const int64_t window : {1, 7, 65})
    for (const bool causal : {false, true}) {
      AttentionCase c = single;
      c.window = window, c.causal = causal;
      cases.push_back(with("window", {130, 3}, {130, 90}, c));
    }
  for (const int64_t reach : {1, 2, 9, 300}) {
    AttentionCase c = plain;
    c.reach = reach;
    cases.push_back(with("bias", {70, 1, 33}, {70, 90, 33}, c));
  }
  AttentionCase all = grouped;
  all.soft_cap = 1.5f;
  cases.push_back(with("soft cap", odd, odd, all));
  all.window = 33, all.reach = 12, all.dropout = 0.3f, all.sinks = true;
  cases.push_back(with("everything", {70, 7}, {90, 7}, all));
  return cases;
}

const AddOpCases attention_backward_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kFloating) {
    for (AttentionCase c : backward_cases()) {
      c.dtype = dtype;
      cases.push_back(
          {"attention backward, " + c.name, [c] { return differentiate_attention(c, 0); }});
    }
    const AttentionCase c{.q_lengths = {5}, .kv_lengths = {9}, .d = 8, .dv = 8, .dtype = dtype};
    cases.push_back({"attention backward, rows that nobody reads",
                     [c] { return differentiate_attention(c, 70); }});
  }
  return cases;
});

}  // namespace
}  // namespace heed::kernels
