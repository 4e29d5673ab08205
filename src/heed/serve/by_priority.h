#pragma once

#include <deque>
#include <iterator>
#include <utility>

namespace heed::serve {

/// Adds an item, which has a `call`, behind those whose calls have its priority or a higher one.
template <typename Item>
void add_by_priority(std::deque<Item>& items, Item item) {
  auto place = items.end();
  while (place != items.begin() && std::prev(place)->call->priority < item.call->priority) --place;
  items.insert(place, std::move(item));
}

}  // namespace heed::serve
