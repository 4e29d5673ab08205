#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/tensor/dtype.h"

namespace heed::io {

/// How a tensor of a GGUF file can be stored.
struct GgufTensorType {
  uint32_t number;   // in the file
  const char* name;  // GGML's: "F32", "Q4_K", ...
  int64_t block_elements, block_bytes;
  std::optional<DType> dtype;  // of those that heed has
};

/// Null when there is none of that number.
const GgufTensorType* gguf_type_numbered(uint32_t number);
/// Of a name that one of them bears.
const GgufTensorType& gguf_type_named(const std::string& name);
/// Every dtype has one.
const GgufTensorType& gguf_type_of(DType dtype);
/// The names of those that heed has, for messages.
std::string usable_gguf_types();

}  // namespace heed::io
