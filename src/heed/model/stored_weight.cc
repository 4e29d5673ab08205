#include "heed/model/stored_weight.h"

#include <utility>

namespace heed::model {

std::string renamed(std::string name, std::initializer_list<Rename> renames) {
  for (const auto& [from, to] : renames)
    if (const size_t place = name.find(from); place != std::string::npos)
      name.replace(place, from.size(), to);
  return name;
}

StoredWeight fused(StoredWeight weight, std::initializer_list<FusedPart> parts) {
  for (const FusedPart& own : parts) {
    if (weight.name.find(own.part) == std::string::npos) continue;
    weight.name = renamed(std::move(weight.name), {{own.part, own.whole}});
    weight.shape = weight.shape.rank() == 2 ? Shape{own.rows, weight.shape[1]} : Shape{own.rows};
    weight.first_row = own.first_row;
    break;
  }
  return weight;
}

}  // namespace heed::model
