#include "heed/io/gguf_types.h"

#include <algorithm>
#include <array>

namespace heed::io {
namespace {

constexpr GgufTensorType supported(uint32_t number, const char* name, DType dtype) {
  return {number, name, block_elements(dtype), block_bytes(dtype), dtype};
}
constexpr GgufTensorType unsupported(uint32_t number, const char* name, int64_t elements,
                                     int64_t bytes) {
  return {number, name, elements, bytes, std::nullopt};
}

constexpr std::array kTypes{
    supported(0, "F32", DType::f32),     supported(1, "F16", DType::f16),
    supported(2, "Q4_0", DType::q4_0),   supported(3, "Q4_1", DType::q4_1),
    unsupported(6, "Q5_0", 32, 22),      unsupported(7, "Q5_1", 32, 24),
    supported(8, "Q8_0", DType::q8_0),   unsupported(9, "Q8_1", 32, 40),
    unsupported(10, "Q2_K", 256, 84),    unsupported(11, "Q3_K", 256, 110),
    unsupported(12, "Q4_K", 256, 144),   unsupported(13, "Q5_K", 256, 176),
    supported(14, "Q6_K", DType::q6_K),  unsupported(15, "Q8_K", 256, 292),
    unsupported(16, "IQ2_XXS", 256, 66), unsupported(17, "IQ2_XS", 256, 74),
    unsupported(18, "IQ3_XXS", 256, 98), unsupported(19, "IQ1_S", 256, 50),
    unsupported(20, "IQ4_NL", 32, 18),   unsupported(21, "IQ3_S", 256, 110),
    unsupported(22, "IQ2_S", 256, 82),   unsupported(23, "IQ4_XS", 256, 136),
    unsupported(24, "I8", 1, 1),         unsupported(25, "I16", 1, 2),
    supported(26, "I32", DType::i32),    unsupported(27, "I64", 1, 8),
    unsupported(28, "F64", 1, 8),        unsupported(29, "IQ1_M", 256, 56),
    supported(30, "BF16", DType::bf16),  unsupported(34, "TQ1_0", 256, 54),
    unsupported(35, "TQ2_0", 256, 66),   unsupported(39, "MXFP4", 32, 17)};

}  // namespace

const GgufTensorType* find_gguf_type(uint32_t number) {
  for (const GgufTensorType& type : kTypes)
    if (type.number == number) return &type;
  return nullptr;
}

const GgufTensorType& gguf_type_by_name(const std::string& name) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const GgufTensorType& type) { return type.name == name; });
}

std::string supported_gguf_types() {
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
