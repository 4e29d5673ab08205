#include "heed/kernels/gpu/code/embedding_backward.h"

#include <algorithm>
#include <vector>

#include "heed/kernels/embedding.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

/// The different tokens, ascending, and the rows of each, ascending.
struct RowsOfTokens {
  std::vector<int32_t> tokens, starts, rows;

  explicit RowsOfTokens(std::span<const int32_t> of) {
    std::vector<uint64_t> sorted(of.size());  // the token above the row
    for (size_t n = 0; n < of.size(); ++n) sorted[n] = static_cast<uint64_t>(of[n]) << 32 | n;
    std::ranges::sort(sorted);
    rows.reserve(of.size());
    for (const uint64_t token_and_row : sorted) {
      const auto token = static_cast<int32_t>(token_and_row >> 32);
      if (tokens.empty() || token != tokens.back()) {
        tokens.push_back(token);
        starts.push_back(static_cast<int32_t>(rows.size()));
      }
      rows.push_back(static_cast<int32_t>(token_and_row & 0xffffffffu));
    }
    starts.push_back(static_cast<int32_t>(rows.size()));
  }
};

}  // namespace

void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table) {
  constexpr unsigned kThreads = 128;
  if (dy.elements() == 0) return;
  const RowsOfTokens sorted(tokens);
  const Uploaded<int32_t> different(sorted.tokens), starts(sorted.starts), rows(sorted.rows);
  launch(dy.dtype() == DType::f32 ? "embedding_backward_f32" : "embedding_backward_bf16",
         {.x = static_cast<unsigned>(sorted.tokens.size()),
          .y = blocks_for(dy.cols(), kThreads),
          .threads = kThreads},
         EmbeddingBackwardArguments{different.data(), starts.data(), rows.data(), memory(dy),
                                    elements<float>(d_table), scale, static_cast<int>(dy.cols())});
}

}  // namespace heed::kernels::gpu
