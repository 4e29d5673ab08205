#include "heed/io/gguf/types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace heed::io {
namespace {

/// Types that heed does not support. Files with such tensors can still be listed.
struct UnsupportedType {
  uint32_t number;
  const char* name;
  int64_t elements, bytes;
};
constexpr std::array kUnsupportedTypes{
    UnsupportedType{9, "Q8_1", 32, 40},      UnsupportedType{15, "Q8_K", 256, 292},
    UnsupportedType{16, "IQ2_XXS", 256, 66}, UnsupportedType{17, "IQ2_XS", 256, 74},
    UnsupportedType{18, "IQ3_XXS", 256, 98}, UnsupportedType{19, "IQ1_S", 256, 50},
    UnsupportedType{21, "IQ3_S", 256, 110},  UnsupportedType{22, "IQ2_S", 256, 82},
    UnsupportedType{24, "I8", 1, 1},         UnsupportedType{25, "I16", 1, 2},
    UnsupportedType{27, "I64", 1, 8},        UnsupportedType{28, "F64", 1, 8},
    UnsupportedType{29, "IQ1_M", 256, 56},   UnsupportedType{34, "TQ1_0", 256, 54},
    UnsupportedType{35, "TQ2_0", 256, 66}};

/// "Q4_0" for "q4_0".
std::string ggml_name(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  return upper;
}

/// All, by their numbers.
const std::vector<GgufTensorType>& types() {
  static const std::vector<GgufTensorType> all = [] {
    std::vector<GgufTensorType> list;
    for (const BlockTraits& type : kStoredTypes)
      list.push_back({type.ggml_type, ggml_name(type.name), type.elements, type.bytes, type.dtype});
    for (const UnsupportedType& type : kUnsupportedTypes)
      list.push_back({type.number, type.name, type.elements, type.bytes, std::nullopt});
    std::ranges::sort(list, {}, &GgufTensorType::number);
    return list;
  }();
  return all;
}

}  // namespace

const GgufTensorType* find_gguf_type(uint32_t number) {
  const auto found = std::ranges::find(types(), number, &GgufTensorType::number);
  return found == types().end() ? nullptr : &*found;
}

const GgufTensorType& gguf_type_by_name(const std::string& name) {
  return *std::ranges::find(types(), name, &GgufTensorType::name);
}

std::string supported_gguf_types() {
  std::string names;
  for (const GgufTensorType& type : types())
    if (type.dtype) names += (names.empty() ? "" : ", ") + type.name;
  return names;
}

const GgufTensorType& gguf_type_of(DType dtype) {
  return *std::ranges::find(types(), dtype, &GgufTensorType::dtype);
}

}  // namespace heed::io
