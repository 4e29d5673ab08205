#include "heed/distribute/all_gather_texts.h"

#include <algorithm>

namespace heed::distribute {

void all_gather_texts(Group& group, std::span<const int> owners, std::vector<std::string>& texts) {
  if (group.alone()) return;
  const size_t count = texts.size();
  std::vector<double> own(count);
  for (size_t i = 0; i < count; ++i) own[i] = static_cast<double>(texts[i].size());
  const std::vector<double> all = group.all_gather(own);
  const auto bytes_of = [&](size_t i) {
    return static_cast<size_t>(all[static_cast<size_t>(owners[i]) * count + i]);
  };
  // The texts of each rank end to end, as the shards of one message.
  std::vector<int64_t> sizes(static_cast<size_t>(group.size()));
  for (size_t i = 0; i < count; ++i)
    sizes[static_cast<size_t>(shard_of_rank(owners[i], group.size()))] +=
        static_cast<int64_t>(bytes_of(i));
  Bounds bounds{0};
  for (const int64_t size : sizes) bounds.push_back(bounds.back() + size);
  std::string message(static_cast<size_t>(bounds.back()), '\0');
  const auto for_each = [&](const auto& take) {
    Bounds next = bounds;  // where the next text of each rank begins
    for (size_t i = 0; i < count; ++i) {
      int64_t& begin = next[static_cast<size_t>(shard_of_rank(owners[i], group.size()))];
      take(i, message.begin() + begin);
      begin += static_cast<int64_t>(bytes_of(i));
    }
  };
  for_each([&](size_t i, auto place) {
    if (owners[i] == group.rank()) std::ranges::copy(texts[i], place);
  });
  std::future<void> gathered =
      group.all_gather(std::as_writable_bytes(std::span(message)), bounds, 1);
  group.wait(gathered);
  for_each([&](size_t i, auto place) {
    texts[i].assign(place, place + static_cast<std::ptrdiff_t>(bytes_of(i)));
  });
}

}  // namespace heed::distribute
