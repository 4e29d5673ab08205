// Precisions of vectors, compared with quantize_embeddings() of sentence-transformers. The expected
// numbers come from tests/golden/embedding_modules/precision.py.
#include "heed/embedding_precision.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/io/safetensors.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

const nlohmann::json& precision_golden() {
  static const auto json = nlohmann::json::parse(read_file(
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/embedding_modules/precision.json"));
  return json;
}

std::vector<float> flat(const nlohmann::json& rows) {
  std::vector<float> numbers;
  for (const auto& row : rows)
    for (const auto& number : row) numbers.push_back(number.get<float>());
  return numbers;
}

/// The bytes as JSON has them.
std::vector<int> numbers_of_bytes(const QuantizedEmbeddings& embeddings) {
  const bool is_signed = embeddings.precision == EmbedPrecision::int8 ||
                         embeddings.precision == EmbedPrecision::binary;
  std::vector<int> numbers;
  for (const std::byte byte : embeddings.bytes)
    numbers.push_back(is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte));
  return numbers;
}

void expect_numbers(EmbedPrecision precision, const EmbeddingRanges& ranges,
                    const nlohmann::json& rows) {
  const auto vectors = flat(precision_golden().at("vectors"));
  const auto found = quantize_embeddings(vectors, 11, precision, ranges);
  EXPECT_EQ(found.rows, 5);
  EXPECT_EQ(found.columns, static_cast<int64_t>(rows[0].size()));
  std::vector<int> expected;
  for (const auto& row : rows)
    for (const auto& number : row) expected.push_back(number.get<int>());
  EXPECT_EQ(numbers_of_bytes(found), expected) << name_of(precision);
}

TEST(EmbeddingPrecision, IsThatOfSentenceTransformers) {
  const auto& golden = precision_golden();
  const EmbeddingRanges own = embedding_ranges(flat(golden.at("vectors")), 11);
  for (const EmbedPrecision precision : {EmbedPrecision::int8, EmbedPrecision::uint8,
                                         EmbedPrecision::binary, EmbedPrecision::ubinary})
    expect_numbers(precision, own, golden.at("expected").at(std::string(name_of(precision))));
  const EmbeddingRanges given{golden["ranges"][0].get<std::vector<float>>(),
                              golden["ranges"][1].get<std::vector<float>>()};
  for (const EmbedPrecision precision : {EmbedPrecision::int8, EmbedPrecision::uint8})
    expect_numbers(precision, given, golden.at("with_ranges").at(std::string(name_of(precision))));
}

TEST(EmbeddingPrecision, Bfloat16IsRoundedToTheNearest) {
  const std::vector<float> vector{1.0f, 1.00390625f, 1.01171875f, -3.14159f};
  const auto found = quantize_embeddings(vector, 4, EmbedPrecision::bfloat16);
  const std::vector<uint16_t> expected{0x3f80, 0x3f80, 0x3f82, 0xc049};
  ASSERT_EQ(found.bytes.size(), 8u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<unsigned>(found.bytes[2 * i]) |
                  static_cast<unsigned>(found.bytes[2 * i + 1]) << 8,
              expected[i]);
}

TEST(EmbeddingFiles, AreReadBack) {
  const TemporaryDirectory folder;
  const auto vectors = flat(precision_golden().at("vectors"));
  const auto embeddings = quantize_embeddings(vectors, 11, EmbedPrecision::float32);
  write_file_atomically(folder / "a.safetensors", safetensors_file_of(embeddings));
  const auto file = io::SafetensorsFile::open(folder / "a.safetensors");
  const Tensor tensor = file->get("embeddings");
  EXPECT_EQ(tensor.shape(), Shape({5, 11}));
  EXPECT_TRUE(std::ranges::equal(tensor.values<float>(), vectors));

  const auto ranges =
      quantize_embeddings(std::span(vectors).first(22), 11, EmbedPrecision::float32);
  const std::string npy = npy_file_of(ranges);
  EXPECT_EQ((npy.size() - ranges.bytes.size()) % 64, 0u);
  write_file_atomically(folder / "ranges.npy", npy);
  expect_error([&] { read_embedding_ranges((folder / "ranges.npy").string()); },
               "the range of dimension");
  const EmbeddingRanges own = embedding_ranges(vectors, 11);
  std::vector<float> both = own.min;
  both.insert(both.end(), own.max.begin(), own.max.end());
  write_file_atomically(folder / "ranges.npy",
                        npy_file_of(quantize_embeddings(both, 11, EmbedPrecision::float32)));
  const EmbeddingRanges read = read_embedding_ranges((folder / "ranges.npy").string());
  EXPECT_EQ(read.min, own.min);
  EXPECT_EQ(read.max, own.max);
  for (const std::string& damaged :
       {std::string(), npy.substr(0, 40), npy + "x", std::string("a,b")}) {
    write_file_atomically(folder / "ranges.npy", damaged);
    EXPECT_THROW(read_embedding_ranges((folder / "ranges.npy").string()), Error);
  }
}

TEST(EmbeddingPrecision, SaysWhatIsWrong) {
  const std::vector<float> vector(6);
  expect_error([&] { quantize_embeddings(vector, 4, EmbedPrecision::float32); },
               "6 numbers are no vectors of 4");
  expect_error([&] { quantize_embeddings(vector, 3, EmbedPrecision::int8); },
               "ranges of 0 dimensions, expected 3");
  expect_error([&] { embedding_ranges({}, 3); }, "0 numbers");
  expect_error([&] { npy_file_of(quantize_embeddings(vector, 3, EmbedPrecision::bfloat16)); },
               "numpy has no bfloat16");
}

}  // namespace
}  // namespace heed
