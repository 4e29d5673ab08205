#pragma once

#include <string_view>

namespace heed::model {

/// Fields of visit_fields() had other names until version 0.1: "n_heads" is "num_attention_heads"
/// now. Both functions return an empty string when there is no other name.
std::string_view former_name(std::string_view field);
std::string_view current_name(std::string_view former);

}  // namespace heed::model
