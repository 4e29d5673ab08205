#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"

namespace heed::ops {

/// Columns [begin, end) of x [N, C]: [N, end - begin]. Throws Error when the range is empty or
/// outside of x.
Tensor slice_columns(Context& context, const Tensor& x, int64_t begin, int64_t end);

/// a [N, A] and b [N, B] side by side: [N, A + B]. Throws Error when rows or dtypes differ.
Tensor concat_columns(Context& context, const Tensor& a, const Tensor& b);

/// The columns of every head, split in two.
struct HeadParts {
  Tensor first;   // [N, H a]
  Tensor second;  // [N, H b]
};
/// Splits x [N, H (a + b)], a = `first_width`. Throws Error when the width does not fit.
HeadParts split_heads(Context& context, const Tensor& x, int64_t n_heads, int64_t first_width);

/// The inverse of split_heads(): first [N, H a] and second [N, H b] joined head by head to
/// [N, H (a + b)]. Throws Error when they do not fit.
Tensor join_heads(Context& context, const Tensor& first, const Tensor& second, int64_t n_heads);
/// The same with one second part [N, b] that all heads share.
Tensor join_shared(Context& context, const Tensor& first, const Tensor& shared, int64_t n_heads);

}  // namespace heed::ops
