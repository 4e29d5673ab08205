// Vector functions: exponential, logistic function, hyperbolic tangent, normal distribution. The
// coefficients are minimax fits of the relative error (iterated weighted least squares). Included
// once per instruction set.
#include "heed/kernels/cpu/simd/simd-inl.h"

#if defined(HEED_KERNELS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_MATH_INL_H_
#undef HEED_KERNELS_CPU_MATH_INL_H_
#else
#define HEED_KERNELS_CPU_MATH_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// exp(x) for x <= 0 (in fact, up to 80), relative error 1e-7; 0 below -87. NaN stays NaN.
HWY_INLINE V32 exp_nonpositive(V32 x) {
  const F32 d;
  const U32 du;
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  const auto magic = hn::Set(d, 12582912.0f);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const auto n = hn::Sub(shifted, magic);
  // x - n log 2 in two steps; the first product is exact.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  auto p = hn::Set(d, 0.00138144671f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00836878062f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416683942f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665201f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.499999934f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto exponent =
      hn::Add(hn::ShiftLeft<23>(hn::BitCast(du, shifted)), hn::Set(du, 127 << 23));
  const auto result = hn::Mul(p, hn::BitCast(d, exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), result);
}

/// 1 / (1 + exp(-x)).
HWY_INLINE V32 sigmoid(V32 x) {
  const F32 d;
  const auto one = hn::Set(d, 1.0f);
  const auto e = exp_nonpositive(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// tanh(x), relative error 2e-7.
HWY_INLINE V32 tanh(V32 x) {
  const F32 d;
  const auto one = hn::Set(d, 1.0f);
  const auto magnitude = hn::Abs(x);
  const auto e = exp_nonpositive(hn::Mul(magnitude, hn::Set(d, -2.0f)));
  const auto large = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  // Near 0 that difference loses digits.
  const auto square = hn::Mul(x, x);
  auto p = hn::Set(d, -0.00551516330f);
  p = hn::MulAdd(p, square, hn::Set(d, 0.0204694197f));
  p = hn::MulAdd(p, square, hn::Set(d, -0.0536880232f));
  p = hn::MulAdd(p, square, hn::Set(d, 0.133308306f));
  p = hn::MulAdd(p, square, hn::Set(d, -0.333332598f));
  const auto small = hn::MulAdd(hn::Mul(x, square), p, x);
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.65f)), small, large);
}

/// The density of the standard normal distribution at x.
HWY_INLINE V32 normal_density(V32 x) {
  const F32 d;
  const auto e = exp_nonpositive(hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  return hn::Mul(e, hn::Set(d, 0.398942280f));
}

/// Its P(X <= x), absolute error 2e-7; 0 below -5.5.
HWY_INLINE V32 normal_cumulative(V32 x) {
  const F32 d;
  const auto limit = hn::Set(d, 5.5f);
  // P(X <= x) - 0.5 is near x times a rational function of its square.
  const auto near = hn::Min(hn::Max(x, hn::Neg(limit)), limit);
  const auto square = hn::Mul(near, near);
  auto p = hn::Set(d, 2.27492762e-8f);
  p = hn::MulAdd(p, square, hn::Set(d, 6.35213015e-6f));
  p = hn::MulAdd(p, square, hn::Set(d, 1.68827420e-4f));
  p = hn::MulAdd(p, square, hn::Set(d, 4.67727133e-3f));
  p = hn::MulAdd(p, square, hn::Set(d, 0.0338528172f));
  p = hn::MulAdd(p, square, hn::Set(d, 0.398942235f));
  auto q = hn::Set(d, 1.19750223e-6f);
  q = hn::MulAdd(q, square, hn::Set(d, 7.36480622e-5f));
  q = hn::MulAdd(q, square, hn::Set(d, 1.88445476e-3f));
  q = hn::MulAdd(q, square, hn::Set(d, 0.0286459698f));
  q = hn::MulAdd(q, square, hn::Set(d, 0.251522347f));
  q = hn::MulAdd(q, square, hn::Set(d, 1.0f));
  const auto result = hn::Add(hn::Div(hn::Mul(near, p), q), hn::Set(d, 0.5f));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Neg(limit)), result);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
