#include "heed/io/pytorch/torch_dtype.h"

#include <array>

namespace heed::io {

std::span<const TorchDType> torch_dtypes() {
  static constexpr std::array<TorchDType, 27> kTypes{{{"float32", "Float", 4, "F32"},
                                                      {"float64", "Double", 8, "F64"},
                                                      {"float16", "Half", 2, "F16"},
                                                      {"bfloat16", "BFloat16", 2, "BF16"},
                                                      {"int64", "Long", 8, "I64"},
                                                      {"int32", "Int", 4, "I32"},
                                                      {"int16", "Short", 2, "I16"},
                                                      {"int8", "Char", 1, "I8"},
                                                      {"uint8", "Byte", 1, "U8"},
                                                      {"bool", "Bool", 1, "BOOL"},
                                                      {"uint16", "", 2, "U16"},
                                                      {"uint32", "", 4, "U32"},
                                                      {"uint64", "", 8, "U64"},
                                                      {"complex32", "", 4, ""},
                                                      {"complex64", "ComplexFloat", 8, ""},
                                                      {"complex128", "ComplexDouble", 16, ""},
                                                      {"float8_e4m3fn", "", 1, ""},
                                                      {"float8_e5m2", "", 1, ""},
                                                      {"float8_e4m3fnuz", "", 1, ""},
                                                      {"float8_e5m2fnuz", "", 1, ""},
                                                      {"float8_e8m0fnu", "", 1, ""},
                                                      {"float4_e2m1fn_x2", "", 1, ""},
                                                      {"quint8", "QUInt8", 1, ""},
                                                      {"qint8", "QInt8", 1, ""},
                                                      {"qint32", "QInt32", 4, ""},
                                                      {"quint4x2", "QUInt4x2", 1, ""},
                                                      {"quint2x4", "QUInt2x4", 1, ""}}};
  return kTypes;
}

const TorchDType* torch_dtype_named(std::string_view name) {
  for (const TorchDType& dtype : torch_dtypes())
    if (dtype.name == name) return &dtype;
  return nullptr;
}

}  // namespace heed::io
