#include "heed/ops/disentangled_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heed/kernels/disentangled_bias.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check_table(const char* name, const Tensor& table, const DisentangledInput& in) {
  if (!table.defined()) return;
  check_width("disentangled attention", name, table, in.q.cols());
  require(!in.rows->empty() && in.rows->front() >= 0 && in.rows->back() < table.rows() &&
              std::ranges::is_sorted(*in.rows),
          "disentangled attention: the rows of {} {} are outside of it or decrease", name,
          table.shape().text());
}

void check_disentangled(const DisentangledInput& in) {
  require(in.n_heads > 0 && in.q.cols() % in.n_heads == 0,
          "disentangled attention: q is {}, its width is not divisible by {} heads",
          in.q.shape().text(), in.n_heads);
  check_width("disentangled attention", "k", in.k, in.q.cols());
  check_table("position_keys", in.position_keys, in);
  check_table("position_queries", in.position_queries, in);
  require(in.k.rows() == in.q.rows() && in.offsets->back() == in.q.rows(),
          "disentangled attention: q is {} and k is {}, the sequences have {} rows",
          in.q.shape().text(), in.k.shape().text(), in.offsets->back());
  const int64_t reach = (std::ssize(*in.rows) + 1) / 2;
  for (size_t b = 0; b + 1 < in.offsets->size(); ++b)
    require((*in.offsets)[b + 1] - (*in.offsets)[b] <= reach,
            "disentangled attention: a sequence has {} tokens, expected at most {}",
            (*in.offsets)[b + 1] - (*in.offsets)[b], reach);
}

kernels::DisentangledBias arguments_of(const DisentangledInput& in) {
  return {in.q,        in.k,     in.position_keys, in.position_queries,
          *in.offsets, *in.rows, in.n_heads,       in.scale};
}

}  // namespace

Tensor disentangled_bias(Context& context, const DisentangledInput& input) {
  check_disentangled(input);
  const kernels::DisentangledBias in = arguments_of(input);
  Tensor bias = Tensor::empty({input.n_heads, in.pairs()});
  kernels::disentangled_bias_forward(in, bias);
  if (!context.tape) return bias;

  Tape& tape = *context.tape;
  tape.record(bias, [&tape, q = input.q, k = input.k, keys = input.position_keys,
                     queries = input.position_queries, offsets = input.offsets, rows = input.rows,
                     n_heads = input.n_heads, scale = input.scale](const Tensor& d_bias) {
    const auto like = [](const Tensor& x) {
      return x.defined() ? Tensor::empty(x.shape(), x.dtype()) : Tensor();
    };
    Tensor dq = like(q), dk = like(k), d_keys = like(keys), d_queries = like(queries);
    kernels::disentangled_bias_backward(
        arguments_of({q, k, keys, queries, offsets, rows, n_heads, scale}), d_bias,
        {dq, dk, d_keys, d_queries});
    tape.add(q, dq);
    tape.add(k, dk);
    if (keys.defined()) tape.add(keys, d_keys);
    if (queries.defined()) tape.add(queries, d_queries);
  });
  return bias;
}

int64_t DistanceRows::row(int64_t distance) const {
  int64_t place = distance;
  const int64_t middle = buckets / 2, far = std::abs(distance);
  if (buckets > 0 && far > middle) {
    // In f32 and in this order, because a boundary between buckets may fall on a whole distance.
    const auto exact = static_cast<float>(middle);
    const float octaves = std::log(
        static_cast<float>(static_cast<double>(max_distance - 1) / static_cast<double>(middle)));
    const float part = std::ceil(std::log(static_cast<float>(far) / exact) / octaves *
                                 static_cast<float>(middle - 1));
    const auto shared = static_cast<int64_t>(part + exact);
    place = distance > 0 ? shared : -shared;
  }
  return std::clamp<int64_t>(place + span(), 0, count() - 1);
}

}  // namespace heed::ops
