#include "heed/train/distributed/gather_numbers.h"

#include <algorithm>
#include <array>

namespace heed::train {

std::vector<double> gather_numbers(distribute::Group& group, std::vector<double> own) {
  if (group.alone()) return own;
  const std::vector<double> counts = group.all_gather(std::array{static_cast<double>(own.size())});
  const auto most = static_cast<size_t>(std::ranges::max(counts));
  own.resize(most);
  const std::vector<double> padded = group.all_gather(own);
  std::vector<double> all;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    const auto begin = padded.begin() + static_cast<int64_t>(rank * most);
    all.insert(all.end(), begin, begin + static_cast<int64_t>(counts[rank]));
  }
  return all;
}

}  // namespace heed::train
