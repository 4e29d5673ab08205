#include "heed/data/dataset.h"

namespace heed::data {

std::vector<Lengths> Dataset::lengths() const {
  std::vector<Lengths> all;
  all.reserve(static_cast<size_t>(count()));
  for (int64_t index = 0; index < count(); ++index) all.push_back(lengths_at(index));
  return all;
}

}  // namespace heed::data
