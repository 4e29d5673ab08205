#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace heed::io {

/// A type of elements that files of torch.save may hold.
struct TorchDType {
  std::string_view name;     // of torch.dtype: "float32"
  std::string_view storage;  // of the class of its storages, without "Storage"; empty: none
  size_t bytes;              // of an element
  std::string_view stored;   // the name that safetensors files have for it; empty: none
};

/// All of them.
std::span<const TorchDType> torch_dtypes();
/// Throws nothing; null for any other name.
const TorchDType* torch_dtype_named(std::string_view name);

}  // namespace heed::io
