#include "heed/model/families/fused_weights.h"

#include "heed/model/families/config_json.h"

namespace heed::model {

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
