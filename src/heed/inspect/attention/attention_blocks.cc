#include "heed/inspect/attention/attention_blocks.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::inspect {

void visit_attention_weights(
    const kernels::AttentionForward& in,
    const std::function<void(int64_t first_query, const Tensor& weights)>& visit) {
  constexpr int64_t kBlockWeights = int64_t{1} << 22;
  require(in.spans.sequences() == 1,
          "attention weights of {} sequences were requested, expected one sequence",
          in.spans.sequences());
  const int64_t queries = in.spans.q_offsets.back();
  const int64_t keys = in.spans.kv_end.front() - in.spans.kv_begin.front();
  const int64_t step =
      std::max<int64_t>(kBlockWeights / (in.options.n_heads * std::max<int64_t>(keys, 1)), 1);
  for (int64_t begin = 0; begin < queries; begin += step)
    visit(begin, kernels::attention_weights(in, {0, begin, std::min(begin + step, queries)}));
}

}  // namespace heed::inspect
