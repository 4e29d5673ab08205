#include "heed/embedding_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kNpyMagic{"\x93NUMPY\x01\x00", 8};

/// Rounds to the nearest bf16, ties to even.
uint16_t bf16_bits(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

bool needs_ranges(EmbedPrecision precision) {
  return precision == EmbedPrecision::int8 || precision == EmbedPrecision::uint8;
}

/// In f32, as numpy computes it.
std::byte scaled(float x, float min, float max) {
  float step = (max - min) / 255.0f;
  if (step == 0) step = 1;
  return static_cast<std::byte>(std::clamp(std::floor((x - min) / step), 0.0f, 255.0f));
}

void append_bits(std::span<const float> row, std::vector<std::byte>& bytes) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (i % 8 == 0) bytes.push_back(std::byte{0});
    if (row[i] > 0) bytes.back() |= static_cast<std::byte>(0x80 >> i % 8);
  }
}

void append_row(std::span<const float> row, EmbedPrecision precision, const EmbeddingRanges& ranges,
                std::vector<std::byte>& bytes) {
  if (needs_ranges(precision)) {
    for (size_t i = 0; i < row.size(); ++i)
      bytes.push_back(scaled(row[i], ranges.min[i], ranges.max[i]));
  } else if (precision == EmbedPrecision::bfloat16) {
    for (const float x : row) {
      const uint16_t bits = bf16_bits(x);
      bytes.push_back(static_cast<std::byte>(bits & 0xff));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
  } else if (precision == EmbedPrecision::float32) {
    const auto raw = std::as_bytes(row);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  } else {
    append_bits(row, bytes);
  }
}

struct FileType {
  std::string_view npy, safetensors;
};

FileType file_type(EmbedPrecision precision) {
  switch (precision) {
    case EmbedPrecision::float32:
      return {"<f4", "F32"};
    case EmbedPrecision::bfloat16:
      return {"", "BF16"};
    case EmbedPrecision::int8:
    case EmbedPrecision::binary:
      return {"|i1", "I8"};
    case EmbedPrecision::uint8:
    case EmbedPrecision::ubinary:
      break;
  }
  return {"|u1", "U8"};
}

std::string with_data(std::string header, const QuantizedEmbeddings& embeddings) {
  header.append(reinterpret_cast<const char*>(embeddings.bytes.data()), embeddings.bytes.size());
  return header;
}

}  // namespace

EmbeddingRanges embedding_ranges(std::span<const float> vectors, int64_t dimension) {
  const auto width = static_cast<size_t>(std::max<int64_t>(dimension, 0));
  require_input(width > 0 && vectors.size() >= width && vectors.size() % width == 0,
                "{} numbers are no vectors of {} elements", vectors.size(), dimension);
  EmbeddingRanges ranges{{vectors.begin(), vectors.begin() + dimension},
                         {vectors.begin(), vectors.begin() + dimension}};
  for (size_t i = 0; i < vectors.size(); ++i) {
    ranges.min[i % width] = std::min(ranges.min[i % width], vectors[i]);
    ranges.max[i % width] = std::max(ranges.max[i % width], vectors[i]);
  }
  return ranges;
}

EmbeddingRanges read_embedding_ranges(const std::string& npy_file) {
  const std::string contents = read_file(npy_file);
  const bool magic = contents.starts_with(kNpyMagic.substr(0, 6)) && contents.size() > 10;
  require(magic && contents[6] == 1, "{}: expected a file of numpy.save(), format 1", npy_file);
  const size_t begin = 10u + static_cast<unsigned char>(contents[8]) +
                       256u * static_cast<unsigned char>(contents[9]);
  require(begin <= contents.size(), "{}: the file ends within its header", npy_file);
  const std::string_view header = std::string_view(contents).substr(10, begin - 10);
  const size_t bytes = contents.size() - begin, width = bytes / sizeof(float) / 2;
  require(header.find("'descr': '<f4'") != header.npos &&
              header.find("'fortran_order': False") != header.npos &&
              header.find(fmt::format("'shape': (2, {})", width)) != header.npos &&
              bytes == 2 * width * sizeof(float) && width > 0,
          "{}: expected an array [2, D] of float32: the least and the largest numbers", npy_file);
  EmbeddingRanges ranges{std::vector<float>(width), std::vector<float>(width)};
  std::memcpy(ranges.min.data(), contents.data() + begin, width * sizeof(float));
  std::memcpy(ranges.max.data(), contents.data() + begin + width * sizeof(float),
              width * sizeof(float));
  for (size_t i = 0; i < width; ++i)
    require(ranges.min[i] <= ranges.max[i] && std::isfinite(ranges.max[i] - ranges.min[i]),
            "{}: the range of dimension {} is {} to {}", npy_file, i, ranges.min[i], ranges.max[i]);
  return ranges;
}

QuantizedEmbeddings quantize_embeddings(std::span<const float> vectors, int64_t dimension,
                                        EmbedPrecision precision, const EmbeddingRanges& ranges) {
  const auto width = static_cast<size_t>(std::max<int64_t>(dimension, 0));
  require_input(width > 0 && vectors.size() % width == 0,
                "{} numbers are no vectors of {} elements", vectors.size(), dimension);
  require_input(name_of(precision) != "?", "precision is {}, expected 0 to 5",
                static_cast<int>(precision));
  require_input(
      !needs_ranges(precision) || (ranges.min.size() == width && ranges.max.size() == width),
      "there are ranges of {} dimensions, expected {}", ranges.min.size(), dimension);
  const bool bits = precision == EmbedPrecision::binary || precision == EmbedPrecision::ubinary;
  QuantizedEmbeddings result{.precision = precision,
                             .rows = static_cast<int64_t>(vectors.size() / width),
                             .columns = bits ? (dimension + 7) / 8 : dimension,
                             .bytes = {}};
  for (size_t first = 0; first < vectors.size(); first += width)
    append_row(vectors.subspan(first, width), precision, ranges, result.bytes);
  if (precision == EmbedPrecision::int8 || precision == EmbedPrecision::binary)
    for (std::byte& byte : result.bytes) byte ^= std::byte{0x80};  // 128 less, as a signed number
  return result;
}

std::string npy_file_of(const QuantizedEmbeddings& embeddings) {
  const std::string_view type = file_type(embeddings.precision).npy;
  require_input(!type.empty(), "numpy has no bfloat16: expected safetensors, or another precision");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   type, embeddings.rows, embeddings.columns);
  constexpr size_t kNpyAlignment = 64;
  const size_t begin = kNpyMagic.size() + 2;
  header.append(kNpyAlignment - 1 - (begin + header.size()) % kNpyAlignment, ' ');
  header += '\n';
  std::string file(kNpyMagic);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return with_data(file + header, embeddings);
}

std::string safetensors_file_of(const QuantizedEmbeddings& embeddings) {
  std::string header =
      fmt::format(R"({{"embeddings":{{"dtype":"{}","shape":[{},{}],"data_offsets":[0,{}]}}}})",
                  file_type(embeddings.precision).safetensors, embeddings.rows, embeddings.columns,
                  embeddings.bytes.size());
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string file;
  for (int byte = 0; byte < 8; ++byte) file += static_cast<char>(header.size() >> 8 * byte & 0xff);
  return with_data(file + header, embeddings);
}

}  // namespace heed
