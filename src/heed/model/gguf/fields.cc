#include "heed/model/gguf/fields.h"

#include <nlohmann/json.hpp>
#include <string>

namespace heed::model {
namespace {

using Json = nlohmann::json;
using io::GgufType;

template <typename T>
Json value_of(const ArchitectureMetadata& metadata, const MetadataField& field, T otherwise) {
  switch (field.absent) {
    case MetadataField::Absent::error:
      return metadata.get<T>(field.key);
    case MetadataField::Absent::null:
      return metadata.json<T>(field.key);
    case MetadataField::Absent::otherwise:
      break;
  }
  return metadata.get_or<T>(field.key, otherwise);
}

Json read_field(const ArchitectureMetadata& metadata, const MetadataField& field) {
  switch (field.type) {
    case GgufType::u32:
      return value_of(metadata, field, static_cast<int64_t>(field.otherwise));
    case GgufType::f32:
      return value_of(metadata, field, field.otherwise);
    case GgufType::boolean:
      return value_of(metadata, field, field.otherwise != 0);
    default:
      return value_of(metadata, field, std::string());
  }
}

io::GgufValue written(const Json& value, GgufType type) {
  switch (type) {
    case GgufType::u32:
      return static_cast<uint32_t>(value.get<int64_t>());
    case GgufType::f32:
      return value.get<float>();
    case GgufType::boolean:
      return value.get<bool>();
    default:
      return value.get<std::string>();
  }
}

}  // namespace

void read_fields(const ArchitectureMetadata& metadata, std::span<const MetadataField> fields,
                 Json& config) {
  for (const MetadataField& field : fields) config[field.field] = read_field(metadata, field);
}

void write_fields(const Json& config, std::span<const MetadataField> fields,
                  ArchitectureValues& metadata) {
  for (const MetadataField& field : fields)
    if (const auto found = config.find(field.field); found != config.end() && !found->is_null())
      metadata.set(field.key, written(*found, field.type));
}

}  // namespace heed::model
