#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/model/config_fields.h"
#include "heed/model/renamed_fields.h"

namespace heed::model {
namespace {

template <typename T>
void read_field(ConfigReader& json, const char* name, T& value) {
  if constexpr (std::is_enum_v<T>) {
    json.understand({name});
    if (json.has(name)) value = named(json.get<std::string>(name), values_of<T>());
  } else {
    value = json.get_or<T>(name, value);
  }
}

/// A missing field keeps its default. Models saved by version 0.1 use the former names.
ModelConfig read_heed(ConfigReader& json) {
  ModelConfig config;
  const auto read = [&](const char* name, auto& value, const char*) {
    const std::string former(former_name(name));
    const bool renamed_since = !former.empty() && json.has(former.c_str());
    read_field(json, renamed_since ? former.c_str() : name, value);
  };
  visit_vocabulary_fields(config, read);
  visit_fields(config, read);
  visit_classifier_fields(config, read);
  // All fields matter: one that this version does not know is of a later one.
  const std::vector<std::string> unknown = json.warnings();
  require(unknown.empty(), "{}", unknown.empty() ? "" : unknown.front());
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

/// heed's own format, which can express every ModelConfig. It is for those that no published family
/// can express: bottleneck heads, shared key/value heads in an encoder-decoder, gated feed-forward
/// networks, ...
Family heed_family() {
  return {.model_type = "heed",
          .read = read_heed,
          .write_config = write_heed,
          .stored = [](const ModelConfig&, const std::string& name,
                       const Shape& shape) { return StoredWeight{.name = name, .shape = shape}; },
          .redundant = [](std::string_view) { return false; },
          .padded_embedding = false};
}

}  // namespace heed::model
