#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"

namespace heed {

/// What the numbers of vectors are, as quantize_embeddings() of sentence-transformers has them.
enum class EmbedPrecision {
  float32,
  bfloat16,  // rounded to the nearest, ties to even
  int8,      // uint8 - 128
  uint8,     // floor((x - min) / ((max - min) / 255)), 0 to 255, with the range of the dimension
  binary,    // ubinary - 128
  ubinary    // a bit for each number, 1 if it is above zero; eight in a byte, the first highest
};

/// "float32", "bfloat16", "int8", "uint8", "binary" or "ubinary".
constexpr std::string_view name_of(EmbedPrecision precision) {
  constexpr std::string_view kNames[] = {"float32", "bfloat16", "int8",
                                         "uint8",   "binary",   "ubinary"};
  const auto number = static_cast<size_t>(precision);
  return number < std::size(kNames) ? kNames[number] : "?";
}

/// The least and the largest number of each dimension, by which int8 and uint8 are scaled.
struct EmbeddingRanges {
  std::vector<float> min, max;  // [D]
};

/// The ranges of vectors [n, D], at least one.
HEED_EXPORT EmbeddingRanges embedding_ranges(std::span<const float> vectors, int64_t dimension);
/// Reads ranges [2, D] of float32 that numpy.save() has written. Throws Error, naming the file, on
/// anything else.
HEED_EXPORT EmbeddingRanges read_embedding_ranges(const std::string& npy_file);

/// Vectors [rows, columns] in some precision, one row after the other.
struct QuantizedEmbeddings {
  EmbedPrecision precision = EmbedPrecision::float32;  // of the numbers
  int64_t rows = 0, columns = 0;  // columns: numbers of a row, of binary ones D / 8, rounded up
  std::vector<std::byte> bytes;   // little-endian
};

/// The vectors [n, D] in another precision. int8 and uint8 need ranges; other precisions do not
/// read them. Throws InputError on ranges of another size.
HEED_EXPORT QuantizedEmbeddings quantize_embeddings(std::span<const float> vectors,
                                                    int64_t dimension, EmbedPrecision precision,
                                                    const EmbeddingRanges& ranges = {});

/// The contents of a file that numpy.load() reads. Throws InputError for bfloat16, which it does
/// not have.
HEED_EXPORT std::string npy_file_of(const QuantizedEmbeddings& embeddings);
/// The contents of a safetensors file with a tensor "embeddings".
HEED_EXPORT std::string safetensors_file_of(const QuantizedEmbeddings& embeddings);

}  // namespace heed
