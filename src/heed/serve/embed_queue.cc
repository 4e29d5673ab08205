#include "heed/serve/embed_queue.h"

#include <algorithm>

#include "heed/executor.h"

namespace heed::serve {

void EmbedQueue::work(std::chrono::milliseconds time) {
  std::vector<Item> batch;
  int64_t tokens = 0;
  const auto limit = static_cast<int64_t>(tokens_per_ms_ * static_cast<double>(time.count()));
  while (!items_.empty() && (tokens == 0 || tokens + std::ssize(items_.front().tokens) <= limit)) {
    Item item = std::move(items_.front());
    items_.pop_front();
    if (item.call->cancelled()) continue;
    item.call->part_started(std::ssize(item.tokens));
    tokens += std::ssize(item.tokens);
    batch.push_back(std::move(item));
  }
  if (batch.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  embed(std::move(batch), tokens);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  tokens_per_ms_ = static_cast<double>(tokens) / std::max(took.count(), 0.001);
}

void EmbedQueue::embed(std::vector<Item> batch, int64_t tokens) {
  std::vector<std::vector<int32_t>> texts;
  for (const Item& item : batch) texts.push_back(item.tokens);
  // Each thread takes whole batches: enough of them that all end at about the same time. A GPU
  // takes all at once.
  EmbedOptions options;
  if (model_.gpu().empty()) {
    const int64_t parts = 4 * model_.executor()->threads();
    options.batch_tokens = std::clamp<int64_t>(tokens / parts, 64, 512);
  }
  std::vector<std::vector<float>> vectors;
  try {
    vectors = model_.embed_tokens(texts, options);
  } catch (...) {
    if (batch.size() == 1) return batch.front().call->fail(current_error());
    for (Item& item : batch) {  // to find the one that fails
      const int64_t own = std::ssize(item.tokens);
      std::vector<Item> alone;
      alone.push_back(std::move(item));
      embed(std::move(alone), own);
    }
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    try {
      batch[i].done(std::move(vectors[i]));
    } catch (...) {
      batch[i].call->fail(current_error());
    }
  }
}

}  // namespace heed::serve
