#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/tensor/dtype.h"

namespace heed::io {

/// A storage type of GGUF tensors.
struct GgufTensorType {
  uint32_t number;   // its number in files
  std::string name;  // GGML's: "F32", "Q4_K", ...
  int64_t block_elements, block_bytes;
  std::optional<DType> dtype;  // absent when heed does not support the type
};

/// Null when no type has that number.
const GgufTensorType* find_gguf_type(uint32_t number);
/// `name` must be the name of a type.
const GgufTensorType& gguf_type_by_name(const std::string& name);
/// The GGUF type that stores a dtype; every dtype has one.
const GgufTensorType& gguf_type_of(DType dtype);
/// The names of the supported types, separated by commas, for messages.
std::string supported_gguf_types();

}  // namespace heed::io
