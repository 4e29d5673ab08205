#include "bench/gpu/kernels_bench.h"
#include "heed/kernels/attention.h"

namespace heed::gpu_bench {
namespace {

using namespace kernels;

struct Heads {
  int64_t queries = 32, keys = 8, d = 128;  // Llama 3's
};

/// Some sequences of the same length, the last `queries` tokens of each.
struct Shape3 {
  int64_t sequences, queries, keys;
  bool through_rows = false;  // keys are rows of a cache, in any order
};

struct Problem {
  Heads heads;
  Shape3 shape;
  Tensor q, k, v, out, logsumexp;
  AttentionMetadata spans;
  AttentionOptions options;
};

AttentionMetadata spans_of(const Shape3& s) {
  AttentionMetadata spans{{0}, {}, {}, {}};
  for (int64_t b = 0; b < s.sequences; ++b) {
    spans.q_offsets.push_back(static_cast<int32_t>((b + 1) * s.queries));
    spans.kv_begin.push_back(static_cast<int32_t>(b * s.keys));
    spans.kv_end.push_back(static_cast<int32_t>((b + 1) * s.keys));
  }
  if (s.through_rows)
    for (int64_t j = 0; j < s.sequences * s.keys; ++j)
      spans.kv_rows.push_back(static_cast<int32_t>(j % s.keys * s.sequences + j / s.keys));
  return spans;
}

Problem problem_of(const Shape3& shape, const Heads& heads) {
  Problem p{heads, shape, {}, {}, {}, {}, {}, spans_of(shape), {}};
  p.q = random_tensor({shape.sequences * shape.queries, heads.queries * heads.d}, DType::bf16);
  p.k = random_tensor({shape.sequences * shape.keys, heads.keys * heads.d}, DType::bf16);
  p.v = p.k.clone();
  p.out = Tensor::empty(p.q.shape(), DType::bf16);
  p.logsumexp = Tensor::empty({p.q.rows(), heads.queries});
  p.options = {.n_heads = heads.queries,
               .n_kv_heads = heads.keys,
               .scale = 1.0f / std::sqrt(static_cast<float>(heads.d)),
               .causal = true};
  return p;
}

/// The error of the first head of the last query, whose keys are all of its sequence, by the size
/// of its values.
double error_of_last_query(const Problem& p) {
  const int64_t width_q = p.heads.queries * p.heads.d, width_k = p.heads.keys * p.heads.d;
  const int64_t query = (p.q.rows() - 1) * width_q;
  const auto key = [&](int64_t j) {
    const int64_t place = p.spans.kv_begin.back() + j;
    return (p.shape.through_rows ? p.spans.kv_rows[static_cast<size_t>(place)] : place) * width_k;
  };
  std::vector<double> sums(static_cast<size_t>(p.heads.d));
  double total = 0;
  for (int64_t j = 0; j < p.shape.keys; ++j) {
    double score = 0;
    for (int64_t i = 0; i < p.heads.d; ++i) score += base_value(query + i) * base_value(key(j) + i);
    const double weight = std::exp(score * static_cast<double>(p.options.scale));
    total += weight;
    for (int64_t i = 0; i < p.heads.d; ++i)
      sums[static_cast<size_t>(i)] += weight * base_value(key(j) + i);
  }
  const std::vector<float> found = values_of(p.out.row_slice(p.q.rows() - 1, p.q.rows()));
  double errors = 0, squares = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double expected = sums[i] / total, error = found[i] - expected;
    errors += error * error;
    squares += expected * expected;
  }
  return std::sqrt(errors / squares);
}

/// The last query alone, whose keys are in the same rows.
std::string check_of(const Problem& p) {
  std::string text = within(error_of_last_query(p), 0.02);
  if (p.q.rows() == 1) return text;
  AttentionMetadata spans{
      {0, 1}, {p.spans.kv_begin.back()}, {p.spans.kv_end.back()}, p.spans.kv_rows};
  const Tensor q = p.q.row_slice(p.q.rows() - 1, p.q.rows());
  Tensor out = Tensor::empty(q.shape(), DType::bf16);
  Tensor logsumexp = Tensor::empty({1, p.heads.queries});
  attention_forward({q, p.k, p.v, spans, p.options}, out, logsumexp);
  return text + " " + same_bits(p.out.row_slice(p.q.rows() - 1, p.q.rows()), out);
}

Prepared prepare_forward(const Shape3& shape, const Heads& heads) {
  const auto p = std::make_shared<Problem>(problem_of(shape, heads));
  auto caches = std::make_shared<std::vector<Tensor>>();
  for (size_t i = 0; i < 2 * copies(2 * p->k.bytes()); ++i) caches->push_back(p->k.clone());
  const auto run = [=](size_t i) {
    const Tensor& k = (*caches)[2 * i % caches->size()];
    const Tensor& v = (*caches)[(2 * i + 1) % caches->size()];
    attention_forward({p->q, k, v, p->spans, p->options}, p->out, p->logsumexp);
  };
  return {run, [=] { return check_of(*p); }};
}

/// Multiplications and additions of one of the products; half of the pairs where queries are many.
double product_operations(const Shape3& s, const Heads& heads) {
  const double pairs = static_cast<double>(s.sequences * s.queries * s.keys);
  return 2 * pairs * static_cast<double>(heads.queries * heads.d) / (s.queries > 1 ? 2 : 1);
}

double bytes_of_forward(const Shape3& s, const Heads& heads) {
  return 4.0 * static_cast<double>(s.sequences * (s.queries * heads.queries + s.keys * heads.keys) *
                                   heads.d);
}

Case forward_case(const std::string& name, Shape3 shape, const Heads& heads = {}) {
  const std::string work = fmt::format("attention {} B={} T={}", name, shape.sequences, shape.keys);
  if (tiny())
    shape = {std::min<int64_t>(shape.sequences, 3), std::min<int64_t>(shape.queries, 70),
             shape.keys / 16, shape.through_rows};
  return {work, bytes_of_forward(shape, heads), 2 * product_operations(shape, heads), Unit::bf16,
          [=] { return prepare_forward(shape, heads); }};
}

Case backward_case(Shape3 shape, const Heads& heads) {
  const std::string work = fmt::format("attention backward B={} T={}", shape.sequences, shape.keys);
  if (tiny()) shape = {2, 33, 33};
  return {work, 2 * bytes_of_forward(shape, heads), 5 * product_operations(shape, heads),
          Unit::bf16, [=]() -> Prepared {
            const auto p = std::make_shared<Problem>(problem_of(shape, heads));
            const Tensor d_out = p->q.clone();
            auto gradients = std::make_shared<std::vector<Tensor>>();
            for (const Tensor& of : {p->q, p->k, p->v})
              gradients->push_back(Tensor::empty(of.shape(), of.dtype()));
            attention_forward({p->q, p->k, p->v, p->spans, p->options}, p->out, p->logsumexp);
            return {[=](size_t) {
              auto& all = *gradients;
              attention_backward({p->q, p->k, p->v, p->spans, p->options}, p->out, p->logsumexp,
                                 d_out, {all[0], all[1], all[2]});
            }};
          }};
}

}  // namespace

std::vector<Case> attention_cases() {
  return {forward_case("decode", {1, 1, 1024}),
          forward_case("decode", {1, 1, 8192}),
          forward_case("decode", {64, 1, 1024}),
          forward_case("decode rows", {64, 1, 1024, true}),
          forward_case("decode", {64, 1, 8192}),
          forward_case("prefill", {1, 2048, 2048}),
          forward_case("prefill", {1, 8192, 8192}),
          forward_case("prefill d64", {256, 128, 128}, {12, 12, 64}),
          backward_case({8, 1024, 1024}, {16, 16, 64}),
          backward_case({1, 8192, 8192}, {16, 16, 128})};
}

}  // namespace heed::gpu_bench
