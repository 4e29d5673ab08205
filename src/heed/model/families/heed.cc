#include "heed/model/families/heed.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/model/config_fields.h"
#include "heed/model/renamed_fields.h"

namespace heed::model {
namespace {

template <typename T>
void read_field(const nlohmann::json& json, const char* name, const std::string& file, T& value) {
  if constexpr (std::is_enum_v<T>) {
    if (json.contains(name)) value = named(get<std::string>(json, name, file), values_of<T>());
  } else {
    value = get_or<T>(json, name, value, file);
  }
}

/// A missing field keeps its default. Models saved by version 0.1 use the former names.
ModelConfig read_heed(const nlohmann::json& json, const std::string& file) {
  ModelConfig config;
  const auto read = [&](const char* name, auto& value, const char*) {
    const std::string former(former_name(name));
    const bool renamed_since = !former.empty() && json.contains(former);
    read_field(json, renamed_since ? former.c_str() : name, file, value);
  };
  visit_vocabulary_fields(config, read);
  visit_fields(config, read);
  visit_classifier_fields(config, read);
  return config;
}

nlohmann::json write_heed(const ModelConfig& config) {
  nlohmann::json json = {{"model_type", "heed"}};
  const auto write = [&](const char* name, const auto& value, const char*) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      json[name] = name_of(value);
    else
      json[name] = value;
  };
  visit_vocabulary_fields(config, write);
  visit_fields(config, write);
  if (config.classifier.present()) visit_classifier_fields(config, write);
  return json;
}

}  // namespace

Family heed_family() {
  return {.model_type = "heed",
          .read_config = read_heed,
          .write_config = write_heed,
          .stored = [](const ModelConfig&, const std::string& name,
                       const Shape& shape) { return StoredWeight{.name = name, .shape = shape}; },
          .redundant = [](std::string_view) { return false; }};
}

}  // namespace heed::model
