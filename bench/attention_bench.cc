// Times the attention kernels and shows how much memory the process took.
//   attention_bench [part of a case's name] [repetitions]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/quantize.h"

namespace {

using heed::DType;
using heed::Tensor;
using namespace heed::kernels;

struct Case {
  std::string name;
  int64_t sequences, queries, keys;
  int64_t n_heads, n_kv_heads, d;
  bool causal = false;
  float dropout = 0.0f;
  DType dtype = DType::f32;
  bool gathered = false;  // through kv_rows; forward only
  int64_t window = 0;
  float soft_cap = 0.0f;
  int64_t reach = 0;                  // of a relative bias
  std::optional<DType> kept_in = {};  // keys and values, as in a cache; forward only
};

Tensor normal(int64_t rows, int64_t cols, DType dtype, uint64_t seed) {
  const heed::CounterRandom random(seed);
  Tensor x = Tensor::empty({rows, cols}, dtype);
  heed::visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.elements(); ++i)
      x.data<T>()[i] = T(static_cast<float>(random.normal(static_cast<uint64_t>(i))));
  });
  return x;
}

Tensor kept(const Tensor& x, std::optional<DType> dtype) {
  if (!dtype) return x;
  Tensor y = Tensor::empty(x.shape(), *dtype);
  quantize(x, y);
  return y;
}

/// Lengths around `mean`, as sentences have them; always the same.
std::vector<int32_t> offsets(int64_t sequences, int64_t mean) {
  std::vector<int32_t> result{0};
  const heed::CounterRandom random(7);
  for (int64_t b = 0; b < sequences; ++b) {
    const double length = sequences == 1 || mean == 1
                              ? static_cast<double>(mean)
                              : static_cast<double>(mean) * (0.5 + random.uniform(b));
    result.push_back(result.back() + static_cast<int32_t>(length));
  }
  return result;
}

/// The fastest of some runs: the one that other processes disturbed least.
double seconds(int repetitions, const std::function<void()>& body) {
  double fastest = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, passed.count());
  }
  return fastest;
}

/// Multiplications and additions of one of the products (scores, or weights times values).
double product_operations(const Case& c, const AttentionMetadata& spans) {
  double operations = 0.0;
  for (size_t b = 0; b < spans.kv_begin.size(); ++b) {
    const double queries = spans.q_offsets[b + 1] - spans.q_offsets[b];
    const double keys = spans.kv_end[b] - spans.kv_begin[b];
    operations += 2.0 * queries * keys * static_cast<double>(c.d * c.n_heads);
  }
  return c.causal && c.queries > 1 ? operations / 2 : operations;
}

void measure(const Case& c, int repetitions) {
  const auto q_offsets = offsets(c.sequences, c.queries);
  const auto kv_offsets = offsets(c.sequences, c.keys);
  AttentionMetadata spans = AttentionMetadata::cross(q_offsets, kv_offsets);
  const int64_t keys = kv_offsets.back();
  if (c.gathered)
    for (int64_t j = 0; j < keys; ++j)
      spans.kv_rows.push_back(static_cast<int32_t>((j * 17) % keys));
  const AttentionOptions options{.n_heads = c.n_heads,
                                 .n_kv_heads = c.n_kv_heads,
                                 .scale = 1.0f / std::sqrt(static_cast<float>(c.d)),
                                 .causal = c.causal,
                                 .window = c.window,
                                 .soft_cap = c.soft_cap,
                                 .dropout = c.dropout,
                                 .dropout_key = 99};
  const Tensor q = normal(q_offsets.back(), c.n_heads * c.d, c.dtype, 1);
  const Tensor k = kept(normal(keys, c.n_kv_heads * c.d, c.dtype, 2), c.kept_in);
  const Tensor v = kept(normal(keys, c.n_kv_heads * c.d, c.dtype, 3), c.kept_in);
  const Tensor d_out = normal(q_offsets.back(), c.n_heads * c.d, c.dtype, 4);
  Tensor out = Tensor::empty(q.shape(), c.dtype);
  Tensor logsumexp = Tensor::empty({q_offsets.back(), c.n_heads});
  Tensor bias, d_bias;
  if (c.reach > 0) {
    bias = normal(c.n_heads, 2 * c.reach - 1, DType::f32, 5);
    d_bias = Tensor::empty(bias.shape());
  }
  const AttentionForward in{q, k, v, spans, options, bias};
  const double operations = product_operations(c, spans);
  const double forward = seconds(repetitions, [&] { attention_forward(in, out, logsumexp); });
  fmt::print("{:44} forward {:9.3f} ms {:6.1f} GFLOP/s", c.name, forward * 1e3,
             2.0 * operations * 1e-9 / forward);
  if (!c.gathered && !c.kept_in && c.queries > 1) {
    Tensor dq = Tensor::empty(q.shape(), c.dtype);
    Tensor dk = Tensor::empty(k.shape(), c.dtype);
    Tensor dv = Tensor::empty(v.shape(), c.dtype);
    const double backward = seconds(repetitions, [&] {
      attention_backward(in, out, logsumexp, d_out, {dq, dk, dv, d_bias});
    });
    fmt::print("  backward {:9.3f} ms {:6.1f} GFLOP/s", backward * 1e3,
               5.0 * operations * 1e-9 / backward);
  }
  fmt::print("\n");
}

void print_peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM")) fmt::print("{}\n", line);
}

const std::vector<Case> kCases = {
    {"training", 100, 30, 30, 4, 4, 64},
    {"training causal", 100, 30, 30, 4, 4, 64, true},
    {"training dropout", 100, 30, 30, 4, 4, 64, false, 0.1f},
    {"training bf16", 100, 30, 30, 4, 4, 64, false, 0.0f, DType::bf16},
    {"training causal dropout bf16", 100, 30, 30, 4, 4, 64, true, 0.1f, DType::bf16},
    {"training 8 heads of 32", 100, 30, 30, 8, 8, 32},
    {"training grouped", 100, 30, 30, 8, 2, 64},
    {"documents", 4, 1000, 1000, 8, 8, 64, true},
    {"documents, window 128", 4, 1000, 1000, 8, 8, 64, true, 0.0f, DType::f32, false, 128},
    {"documents, soft cap", 4, 1000, 1000, 8, 8, 64, true, 0.0f, DType::f32, false, 0, 50.0f},
    {"documents, bias", 4, 1000, 1000, 8, 8, 64, true, 0.0f, DType::f32, false, 0, 0.0f, 129},
    {"decoding 1 x 100 keys", 1, 1, 100, 8, 8, 64, true, 0.0f, DType::f32, true},
    {"decoding 64 x 30 keys", 64, 1, 30, 8, 8, 64, true, 0.0f, DType::f32, true},
    {"decoding 64 x 30 keys bf16", 64, 1, 30, 8, 8, 64, true, 0.0f, DType::bf16, true},
    {"decoding 1 x 1000 keys, 9/3", 1, 1, 1000, 9, 3, 64, true},
    {"decoding 1 x 1000 keys, 9/3 bf16", 1, 1, 1000, 9, 3, 64, true, 0.0f, DType::bf16},
    {"decoding 1 x 4096 keys, 32/8", 1, 1, 4096, 32, 8, 128, true},
    {"decoding 1 x 4096 latents, 16/1", 1, 1, 4096, 16, 1, 576, true},
    {"decoding 1 x 4096 keys, 8/8", 1, 1, 4096, 8, 8, 64, true},
    {"long", 1, 16384, 16384, 8, 8, 64},
    {"long causal bf16", 1, 16384, 16384, 8, 8, 64, true, 0.0f, DType::bf16},
};

/// The heads of SmolLM2-135M: prefill, and decoding after a short and a long prompt.
std::vector<Case> grouped_cases(const std::string& name, DType dtype,
                                std::optional<DType> kept_in = {}) {
  const auto of = [&](const char* what, int64_t queries, int64_t keys) {
    return Case{.name = what + name,
                .sequences = 1,
                .queries = queries,
                .keys = keys,
                .n_heads = 9,
                .n_kv_heads = 3,
                .d = 64,
                .causal = true,
                .dtype = dtype,
                .kept_in = kept_in};
  };
  return {of("prefill 4096, 9/3", 4096, 4096), of("decoding 1 x 4096 keys, 9/3", 1, 4096),
          of("decoding 1 x 32768 keys, 9/3", 1, 32768)};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = kCases;
  for (const auto& more :
       {grouped_cases("", DType::f32), grouped_cases(", cache in bf16", DType::f32, DType::bf16),
        grouped_cases(", cache in q8_0", DType::f32, DType::q8_0),
        grouped_cases(", all in bf16", DType::bf16)})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const int repetitions = argc > 2 ? std::max(1, std::atoi(argv[2])) : 21;
  fmt::print("{} threads\n", heed::thread_count());
  for (const Case& c : all_cases())
    if (c.name.find(part) != std::string::npos)
      measure(c, c.name.starts_with("long") ? 1 : repetitions);
  print_peak_memory();
}
