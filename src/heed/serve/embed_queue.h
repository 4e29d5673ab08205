#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "heed/model.h"
#include "heed/serve/by_priority.h"
#include "heed/serve/call.h"

namespace heed::serve {

/// Texts of many calls that a model embeds in common batches. An embedding does not depend on the
/// batch, so calls need not know of each other. Used on the compute thread.
class EmbedQueue {
 public:
  struct Item {
    std::shared_ptr<Call> call;
    std::vector<int32_t> tokens;
    std::function<void(std::vector<float>)> done;
  };

  /// The model must outlive this.
  explicit EmbedQueue(const Model& model) : model_(model) {}

  /// Those of calls with a higher priority come first.
  void add(Item item) { add_by_priority(items_, std::move(item)); }
  bool empty() const { return items_.empty(); }
  void clear() { items_.clear(); }

  /// Embeds as many texts as take about `time`, at least one; drops those of cancelled calls. A
  /// text that cannot be embedded fails its own call.
  void work(std::chrono::milliseconds time);

 private:
  void embed(std::vector<Item> batch, int64_t tokens);

  const Model& model_;
  std::deque<Item> items_;
  double tokens_per_ms_ = 10;  // measured with each batch
};

}  // namespace heed::serve
