#include "heed/io/gguf_types.h"

#include <algorithm>
#include <array>

namespace heed::io {
namespace {

constexpr GgufTensorType usable(uint32_t number, const char* name, DType dtype) {
  return {number, name, block_elements(dtype), block_bytes(dtype), dtype};
}
constexpr GgufTensorType other(uint32_t number, const char* name, int64_t elements, int64_t bytes) {
  return {number, name, elements, bytes, std::nullopt};
}

constexpr std::array kTypes{usable(0, "F32", DType::f32),    usable(1, "F16", DType::f16),
                            usable(2, "Q4_0", DType::q4_0),  usable(3, "Q4_1", DType::q4_1),
                            other(6, "Q5_0", 32, 22),        other(7, "Q5_1", 32, 24),
                            usable(8, "Q8_0", DType::q8_0),  other(9, "Q8_1", 32, 40),
                            other(10, "Q2_K", 256, 84),      other(11, "Q3_K", 256, 110),
                            other(12, "Q4_K", 256, 144),     other(13, "Q5_K", 256, 176),
                            usable(14, "Q6_K", DType::q6_K), other(15, "Q8_K", 256, 292),
                            other(16, "IQ2_XXS", 256, 66),   other(17, "IQ2_XS", 256, 74),
                            other(18, "IQ3_XXS", 256, 98),   other(19, "IQ1_S", 256, 50),
                            other(20, "IQ4_NL", 32, 18),     other(21, "IQ3_S", 256, 110),
                            other(22, "IQ2_S", 256, 82),     other(23, "IQ4_XS", 256, 136),
                            other(24, "I8", 1, 1),           other(25, "I16", 1, 2),
                            usable(26, "I32", DType::i32),   other(27, "I64", 1, 8),
                            other(28, "F64", 1, 8),          other(29, "IQ1_M", 256, 56),
                            usable(30, "BF16", DType::bf16), other(34, "TQ1_0", 256, 54),
                            other(35, "TQ2_0", 256, 66),     other(39, "MXFP4", 32, 17)};

}  // namespace

const GgufTensorType* gguf_type_numbered(uint32_t number) {
  for (const GgufTensorType& type : kTypes)
    if (type.number == number) return &type;
  return nullptr;
}

const GgufTensorType& gguf_type_named(const std::string& name) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const GgufTensorType& type) { return type.name == name; });
}

std::string usable_gguf_types() {
  std::string names;
  for (const GgufTensorType& type : kTypes)
    if (type.dtype) names += (names.empty() ? "" : ", ") + std::string(type.name);
  return names;
}

const GgufTensorType& gguf_type_of(DType dtype) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const GgufTensorType& type) { return type.dtype == dtype; });
}

}  // namespace heed::io
