#include "heed/kernels/gpu/code/rows/embedding_backward.h"

#include <algorithm>
#include <vector>

#include "heed/kernels/embedding.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {
namespace {

/// The different tokens, ascending; where the rows of each begin, and their end; and the rows of
/// all, ascending for each token: one after the other.
struct RowsOfTokens {
  std::vector<int32_t> values;
  size_t tokens = 0;

  explicit RowsOfTokens(std::span<const int32_t> of) {
    std::vector<uint64_t> sorted(of.size());  // the token above the row
    for (size_t n = 0; n < of.size(); ++n) sorted[n] = static_cast<uint64_t>(of[n]) << 32 | n;
    std::ranges::sort(sorted);
    std::vector<int32_t> starts;
    values.reserve(3 * of.size() + 1);
    for (size_t n = 0; n < of.size(); ++n) {
      if (n > 0 && sorted[n] >> 32 == sorted[n - 1] >> 32) continue;
      values.push_back(static_cast<int32_t>(sorted[n] >> 32));
      starts.push_back(static_cast<int32_t>(n));
    }
    starts.push_back(static_cast<int32_t>(of.size()));
    tokens = values.size();
    values.insert(values.end(), starts.begin(), starts.end());
    for (const uint64_t token_and_row : sorted)
      values.push_back(static_cast<int32_t>(token_and_row & 0xffffffffu));
  }
};

}  // namespace

void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table) {
  if (dy.elements() == 0) return;
  const RowsOfTokens sorted(tokens);
  const Uploaded<int32_t> uploaded(sorted.values);
  const int32_t* const starts = uploaded.data() + sorted.tokens;
  launch(by_dtype(dy.dtype(), "embedding_backward_f32", "embedding_backward_bf16"),
         shape_of_row_columns(static_cast<int64_t>(sorted.tokens), dy.cols(), 1),
         EmbeddingBackwardArguments{uploaded.data(), starts, starts + sorted.tokens + 1, memory(dy),
                                    elements<float>(d_table), scale, static_cast<int>(dy.cols())});
}

}  // namespace heed::kernels::gpu
