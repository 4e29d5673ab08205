#pragma once

#include <chrono>
#include <filesystem>

#include "heed/base/declared_option.h"
#include "heed/base/names.h"
#include "heed/serve/api_error.h"
#include "heed/serve/fields/json_fields.h"

namespace heed::serve {

/// Sets the option if JSON has a field with its key, to a value within what is served of it. Times
/// are in seconds. Throws ApiError as JsonFields.
template <typename Declared, typename Options>
void read_option(JsonFields& fields, const Declared& option, Options& options) {
  using Number = typename Declared::Number;
  const auto& range = option.served;
  const auto set = [&](auto value) {
    if (value) options.*option.field = static_cast<Number>(*std::move(value));
  };
  if constexpr (std::is_same_v<Number, std::string> ||
                std::is_same_v<Number, std::filesystem::path>) {
    set(fields.text(option.key));
  } else if constexpr (std::is_same_v<Number, std::vector<std::string>>) {
    set(fields.texts(option.key));
  } else if constexpr (std::is_same_v<Number, bool>) {
    set(fields.boolean(option.key));
  } else if constexpr (std::is_enum_v<Number>) {
    set(fields.named<Number>(option.key));
  } else if constexpr (std::is_same_v<Number, std::chrono::milliseconds>) {
    const auto seconds = fields.number(option.key, static_cast<double>(range.min) / 1000,
                                       static_cast<double>(range.max) / 1000);
    if (seconds) set(std::optional(static_cast<int64_t>(*seconds * 1000)));
  } else if constexpr (std::is_floating_point_v<Number>) {
    const auto value = fields.number(option.key, range.min, range.max);
    if (value && range.above_min && static_cast<double>(static_cast<Number>(*value)) <= range.min)
      throw invalid_request(fields.path_of(option.key),
                            fmt::format("{} is {}, expected {}", option.key,
                                        static_cast<Number>(*value), range.text()));
    set(value);
  } else {
    set(fields.integer(option.key, range.min, range.max));
  }
}

}  // namespace heed::serve
