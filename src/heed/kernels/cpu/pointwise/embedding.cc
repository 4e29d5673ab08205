#include "heed/kernels/embedding.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/embedding.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void embed_row(const T* word, const float* position, float scale, T* y, int64_t cols) {
  if (position) {
    for_lanes(0, cols, [&](auto at) HEED_LANES {
      store(hn::MulAdd(load(word, at), set(scale), load(position, at)), y, at);
    });
  } else {
    for_lanes(0, cols,
              [&](auto at) HEED_LANES { store(hn::Mul(load(word, at), set(scale)), y, at); });
  }
}

template <typename T>
void add_row(const T* dy, float scale, float* to, int64_t cols) {
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    store(hn::MulAdd(load(dy, at), set(scale), load(to, at)), to, at);
  });
}

struct Occurrence {
  int32_t token, row;
};

/// Sorted by token, then by row (radix sort, 11 bits a round).
std::vector<Occurrence> sorted(std::span<const int32_t> tokens) {
  constexpr int kBits = 11, kBuckets = 1 << kBits;
  std::vector<Occurrence> occurrences(tokens.size()), next(tokens.size());
  int64_t largest = 0;
  for (size_t n = 0; n < tokens.size(); ++n) {
    occurrences[n] = {tokens[n], static_cast<int32_t>(n)};
    largest = std::max<int64_t>(largest, tokens[n]);
  }
  for (int shift = 0; (largest >> shift) > 0; shift += kBits) {
    const auto bucket = [&](Occurrence o) {
      return static_cast<size_t>((o.token >> shift) & (kBuckets - 1));
    };
    std::array<size_t, kBuckets + 1> starts{};
    for (const Occurrence o : occurrences) ++starts[bucket(o) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Occurrence o : occurrences) next[starts[bucket(o)]++] = o;
    occurrences.swap(next);
  }
  return occurrences;
}

/// The index, from `index` on, at which the next token begins.
int64_t token_start(const std::vector<Occurrence>& occurrences, int64_t index) {
  const auto at = [&](int64_t i) { return occurrences[static_cast<size_t>(i)].token; };
  const int64_t count = static_cast<int64_t>(occurrences.size());
  while (index > 0 && index < count && at(index) == at(index - 1)) ++index;
  return index;
}

}  // namespace

void embedding_forward(const EmbeddingForward& in, Tensor& y) {
  const int64_t cols = y.cols();
  const float* positions = in.position_table.defined() ? in.position_table.data<float>() : nullptr;
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* table = in.table.data<T>();
    T* to = y.data<T>();
    parallel_for(y.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const size_t n = static_cast<size_t>(row);
        const float* position = positions ? positions + in.positions[n] * cols : nullptr;
        embed_row(table + in.tokens[n] * cols, position, in.scale, to + row * cols, cols);
      }
    });
  });
}

void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table) {
  const int64_t cols = dy.cols();
  const std::vector<Occurrence> occurrences = sorted(tokens);
  float* table = d_table.data<float>();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = dy.data<T>();
    parallel_for(dy.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      // A token belongs to the chunk in which it begins, so that one thread adds all its rows.
      const int64_t last = token_start(occurrences, end);
      for (int64_t i = token_start(occurrences, begin); i < last; ++i) {
        const Occurrence at = occurrences[static_cast<size_t>(i)];
        add_row(from + at.row * cols, scale, table + at.token * cols, cols);
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(embedding_forward);
void cpu::embedding_forward(const EmbeddingForward& in, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(embedding_forward)(in, y);
}
HWY_EXPORT(embedding_backward);
void cpu::embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float factor,
                             Tensor& d_table) {
  HWY_DYNAMIC_DISPATCH(embedding_backward)(tokens, dy, factor, d_table);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
