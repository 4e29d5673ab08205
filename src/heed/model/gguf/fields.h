#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>

#include "heed/io/gguf/metadata.h"
#include "heed/io/gguf/write.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {

/// Metadata to be written, under keys that begin with an architecture.
class ArchitectureValues {
 public:
  ArchitectureValues(std::string architecture, io::GgufValues& values)
      : architecture_(std::move(architecture)), values_(values) {}

  void set(const std::string& key, io::GgufValue value) {
    values_[architecture_ + "." + key] = std::move(value);
  }

 private:
  std::string architecture_;
  io::GgufValues& values_;
};

/// A key of the metadata, after "ARCHITECTURE.", and the field of config.json that says the same.
struct MetadataField {
  enum class Absent { error, null, otherwise };

  const char *key, *field;
  io::GgufType type;  // u32, f32, boolean or string
  /// What a file without the key means for the field.
  Absent absent = Absent::error;
  double otherwise = 0;  // of u32, f32 and boolean
};

// The rows of tables.
constexpr MetadataField required(const char* key, const char* field, io::GgufType type) {
  return {key, field, type};
}
constexpr MetadataField optional(const char* key, const char* field, io::GgufType type) {
  return {key, field, type, MetadataField::Absent::null};
}
constexpr MetadataField with_default(const char* key, const char* field, io::GgufType type,
                                     double otherwise) {
  return {key, field, type, MetadataField::Absent::otherwise, otherwise};
}

/// Sets the fields of `config` that the metadata says. Throws Error when a required key is missing
/// and when a value is of another type.
void read_fields(const ArchitectureMetadata& metadata, std::span<const MetadataField> fields,
                 nlohmann::json& config);
/// Sets the keys that the fields of `config` say, those that are null or missing excepted.
void write_fields(const nlohmann::json& config, std::span<const MetadataField> fields,
                  ArchitectureValues& metadata);

}  // namespace heed::model
