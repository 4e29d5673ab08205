#include "heed/tasks/fill.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/logits.h"
#include "heed/generate/sampling.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/rows.h"

namespace heed::tasks {

std::vector<FilledMask> fill_masks(const model::Transformer& model, std::span<const int32_t> tokens,
                                   int32_t mask_id, int64_t top, DType dtype) {
  require(model.has_encoder() && !model.has_decoder() && model.config().has_head,
          "filling masks needs an encoder-only model with a language model head (BERT, RoBERTa)");
  require_input(top >= 1, "top is {}, expected at least 1", top);
  std::vector<int32_t> rows;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] == mask_id) rows.push_back(static_cast<int32_t>(i));
  require_input(!rows.empty(), "the text has no mask");
  Context context{.dtype = dtype};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  const Tensor states = model.encode(context, {tokens, offsets}).states;
  Tensor masked;  // [masks, D]
  {
    const DeviceScope scope(model.device());
    masked = ops::gather_rows(context, states, rows);
  }
  Tensor logits = generate::checked_logits(model, context, masked);  // [masks, V]
  kernels::log_softmax(logits, logits);
  std::vector<FilledMask> filled;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const std::span values(logits.data<float>() + row * logits.cols(),
                           static_cast<size_t>(logits.cols()));
    // candidates() normalises over the best tokens; these probabilities are over all tokens.
    auto best =
        generate::candidates({.temperature = 1.0f, .top_k = top}, generate::TokenLogits(values));
    for (TokenProbability& candidate : best)
      candidate.probability =
          std::exp(static_cast<double>(values[static_cast<size_t>(candidate.token)]));
    filled.push_back({rows[i], std::move(best)});
  }
  return filled;
}

}  // namespace heed::tasks
