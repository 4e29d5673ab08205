#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"

namespace heed::ops {

/// Columns [begin, end) of x [N, C]: [N, end - begin]. Throws Error when x has no such columns, or
/// there are none.
Tensor slice_columns(Context& context, const Tensor& x, int64_t begin, int64_t end);

/// a [N, A] beside b [N, B]: [N, A + B]. Throws Error when rows or dtypes differ.
Tensor concat_columns(Context& context, const Tensor& a, const Tensor& b);

/// The two parts of every head.
struct HeadParts {
  Tensor first;   // [N, H a]
  Tensor second;  // [N, H b]
};
/// x [N, H (a + b)] in its parts, a = `first_width`. Throws Error when the width does not fit.
HeadParts split_heads(Context& context, const Tensor& x, int64_t n_heads, int64_t first_width);

/// first [N, H a] and second [N, H b] head by head: [N, H (a + b)], what split_heads parts. Throws
/// Error when they do not fit.
Tensor join_heads(Context& context, const Tensor& first, const Tensor& second, int64_t n_heads);
/// The same with one second part [N, b] for all heads.
Tensor join_shared(Context& context, const Tensor& first, const Tensor& shared, int64_t n_heads);

}  // namespace heed::ops
