#include "heed/serve/embed_queue.h"

#include <algorithm>

#include "heed/engine/loaded_model.h"

namespace heed::serve {

void EmbedQueue::work(std::chrono::milliseconds time) {
  std::vector<Item> batch;
  std::vector<std::string> texts;
  int64_t tokens = 0;
  const auto limit = static_cast<int64_t>(tokens_per_ms_ * static_cast<double>(time.count()));
  while (!items_.empty() && (tokens == 0 || tokens + items_.front().tokens <= limit)) {
    Item item = std::move(items_.front());
    items_.pop_front();
    if (item.call->cancelled()) continue;
    item.call->part_started(item.tokens);
    tokens += std::max<int64_t>(item.tokens, 1);
    texts.push_back(std::move(item.text));
    batch.push_back(std::move(item));
  }
  if (batch.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  try {
    // Each thread takes whole batches: enough of them that all end at about the same time.
    const int64_t parts = 2 * engine::loaded(model_).executor->threads();
    const EmbedOptions options{.batch_tokens = std::clamp<int64_t>(tokens / parts, 64, 512)};
    std::vector<std::vector<float>> vectors = model_.embed_batch(texts, options);
    for (size_t i = 0; i < batch.size(); ++i) batch[i].done(std::move(vectors[i]));
  } catch (...) {
    const ApiError error = current_error();
    for (const Item& item : batch) item.call->fail(error);
    return;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  tokens_per_ms_ = static_cast<double>(tokens) / std::max(took.count(), 0.001);
}

}  // namespace heed::serve
