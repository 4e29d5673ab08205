#include "heed/ops/attention.h"

#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check_pairs(const AttentionInput& in) {
  int64_t pairs = 0;
  for (size_t b = 0; b < in.spans->kv_begin.size(); ++b)
    pairs += int64_t{in.spans->q_offsets[b + 1] - in.spans->q_offsets[b]} *
             (in.spans->kv_end[b] - in.spans->kv_begin[b]);
  require(in.pair_bias.dtype() == DType::f32 &&
              in.pair_bias.shape() == Shape{in.options.n_heads, pairs},
          "attention: the pair bias is {}, expected [{}, {}] in f32", in.pair_bias.shape().text(),
          in.options.n_heads, pairs);
}

void check_scores(const AttentionInput& in) {
  const kernels::AttentionOptions& options = in.options;
  require(options.window >= 0, "attention: the window is {}, expected 0 or more", options.window);
  require(options.soft_cap >= 0.0f, "attention: the soft cap is {}, expected 0 or more",
          options.soft_cap);
  if (in.sinks) check_shape(in.sinks->name, "the sinks", in.sinks->value, {options.n_heads});
  if (in.pair_bias.defined()) check_pairs(in);
  if (!in.relative_bias.defined()) return;
  const Shape& bias = in.relative_bias.shape();
  require(in.relative_bias.dtype() == DType::f32 && bias.rank() == 2 &&
              bias[0] == options.n_heads && bias[1] % 2 == 1,
          "attention: the relative bias is {}, expected [{}, an odd number] in f32", bias.text(),
          options.n_heads);
}

void check(const AttentionInput& in) {
  const int64_t heads = in.options.n_heads, kv_heads = in.options.n_kv_heads;
  if (heads <= 0 || kv_heads <= 0 || heads % kv_heads != 0)
    fail("attention: {} heads cannot share {} key/value heads", heads, kv_heads);
  if (in.q.cols() % heads != 0)
    fail("attention: q is {}, its width is not divisible by {} heads", in.q.shape().text(), heads);
  check_width("attention", "k", in.k, in.q.cols() / heads * kv_heads);
  if (in.v.cols() % kv_heads != 0)
    fail("attention: v is {}, its width is not divisible by {} key/value heads",
         in.v.shape().text(), kv_heads);
  if (in.v.rows() != in.k.rows())
    fail("attention: k is {} and v is {}, expected equal numbers of rows", in.k.shape().text(),
         in.v.shape().text());
  check_scores(in);
  if (in.spans->q_offsets.back() != in.q.rows())
    fail("attention: q is {}, the sequences have {} rows", in.q.shape().text(),
         in.spans->q_offsets.back());
}

Tensor sinks_of(const AttentionInput& in) { return in.sinks ? in.sinks->value : Tensor(); }

}  // namespace

Tensor attention(Context& context, const AttentionInput& input) {
  check(input);
  if (context.tape && input.sinks) context.tape->use(*input.sinks);
  kernels::AttentionOptions options = input.options;
  if (!context.training())
    options.dropout = 0.0f;
  else if (options.dropout > 0.0f)
    options.dropout_key = context.next_dropout_key();
  const kernels::AttentionForward forward{input.q,         input.k,        input.v,
                                          *input.spans,    options,        input.relative_bias,
                                          sinks_of(input), input.pair_bias};
  if (context.observe_attention) context.observe_attention(input.site, forward);

  const int64_t v_head_dim = input.v.cols() / options.n_kv_heads;
  Tensor out = Tensor::empty({input.q.rows(), options.n_heads * v_head_dim}, input.q.dtype());
  Tensor logsumexp = Tensor::empty({input.q.rows(), options.n_heads});
  kernels::attention_forward(forward, out, logsumexp);
  if (!context.tape) return out;

  Tape& tape = *context.tape;
  tape.record([&tape, q = input.q, k = input.k, v = input.v, relative_bias = input.relative_bias,
               pair_bias = input.pair_bias, spans = input.spans, sinks = input.sinks, options, out,
               logsumexp] {
    const Tensor d_out = tape.take(out);
    if (!d_out.defined()) return;
    Tensor dq = Tensor::empty(q.shape(), q.dtype());
    Tensor dk = Tensor::empty(k.shape(), k.dtype());
    Tensor dv = Tensor::empty(v.shape(), v.dtype());
    Tensor d_bias;
    if (relative_bias.defined()) d_bias = Tensor::empty(relative_bias.shape());
    Tensor d_pairs;
    if (pair_bias.defined()) d_pairs = Tensor::empty(pair_bias.shape());
    Tensor d_sinks;
    if (sinks && sinks->trainable) d_sinks = tape.gradient(*sinks).materialized();
    kernels::attention_backward(
        {q, k, v, *spans, options, relative_bias, sinks ? sinks->value : Tensor(), pair_bias}, out,
        logsumexp, d_out, {dq, dk, dv, d_bias, d_sinks, d_pairs});
    tape.add(q, dq);
    tape.add(k, dk);
    tape.add(v, dv);
    if (d_bias.defined()) tape.add(relative_bias, d_bias);
    if (d_pairs.defined()) tape.add(pair_bias, d_pairs);
  });
  return out;
}

}  // namespace heed::ops
