#pragma once

#include <initializer_list>
#include <string_view>

#include "heed/model/families/family.h"

namespace heed::model {

/// A part of a tensor that holds several projections one below the other.
struct FusedPart {
  std::string_view part, whole;  // in the names of weights: ".q_proj.", ".qkv_proj."
  int64_t first_row, rows;       // of the part; of the whole
};

/// A weight whose name has one of the parts, as those rows of the whole; any other unchanged.
StoredWeight fused(StoredWeight weight, std::initializer_list<FusedPart> parts);

}  // namespace heed::model
