#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/model/transformer.h"

namespace heed::tasks {

/// Some of the texts, laid end to end.
struct TextBatch {
  std::vector<int32_t> ids, offsets{0};

  TextBatch(const std::vector<std::vector<int32_t>>& texts, std::span<const int64_t> members) {
    for (const int64_t member : members)
      data::append_sequence(texts[static_cast<size_t>(member)], ids, offsets);
  }
};

/// Calls run(members) for batches of texts, as data::run_batches() plans them.
template <typename Run>
void run_text_batches(const model::Transformer& model,
                      const std::vector<std::vector<int32_t>>& texts, int64_t batch_tokens,
                      const Run& run) {
  /// Smallest number of tokens of a batch that one thread computes alone.
  constexpr int64_t kMinEmbeddedTokens = 128;
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& text : texts) lengths.push_back(std::ssize(text));
  const bool on_device = model.device() != nullptr;
  data::run_batches(lengths,
                    {.max_per_batch = data::tokens_per_batch(batch_tokens, on_device),
                     .min_per_thread = kMinEmbeddedTokens,
                     .on_device = on_device},
                    run);
}

}  // namespace heed::tasks
