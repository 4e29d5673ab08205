#include "heed/io/gguf/gguf_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "heed/kernels/as_f32.h"
#include "heed/kernels/quantize.h"
#include "tests/base/testing.h"
#include "tests/io/gguf_bytes.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(HEED_SOURCE_DIR) / "tests/golden/gguf";

std::shared_ptr<const GgufFile> golden() { return GgufFile::open(kGolden / "all_types.gguf"); }

/// The metadata of a file without tensors.
GgufMetadata metadata_of(const GgufBytes& bytes) {
  const TemporaryDirectory folder;
  write_quickly(folder / "some.gguf", bytes.bytes());
  return GgufFile::open(folder / "some.gguf")->metadata();
}

TEST(GgufGolden, ConvertsEveryTypeToF32AsTheReferenceDoes) {
  const auto file = golden();
  const auto expected = SafetensorsFile::open(kGolden / "expected.safetensors");
  for (const std::string& name : expected->names()) {
    const Tensor found = file->get(name), wanted = expected->get(name);
    ASSERT_EQ(found.shape(), wanted.shape()) << name;
    if (found.dtype() == DType::i32) {
      EXPECT_EQ(std::memcmp(found.raw(), wanted.raw(), static_cast<size_t>(found.bytes())), 0);
      continue;
    }
    const Tensor wide = kernels::as_f32(found);
    for (int64_t i = 0; i < wide.elements(); ++i)
      ASSERT_EQ(wide.data<float>()[i], wanted.data<float>()[i]) << name << ", " << i;
  }
}

TEST(GgufGolden, QuantisesToTheReferencesBytes) {
  const auto file = golden();
  for (const char* name : {"f16", "bf16", "q8_0"}) {
    const Tensor wanted = file->get(name);
    Tensor found = Tensor::empty(wanted.shape(), wanted.dtype());
    kernels::quantize(file->get("f32"), found);
    EXPECT_EQ(std::memcmp(found.raw(), wanted.raw(), static_cast<size_t>(found.bytes())), 0)
        << name;
  }
}

/// The squared error of 32 elements of `stored`, converted to f32, against those of x.
double block_error(const Tensor& x, const Tensor& stored, int64_t begin) {
  const Tensor wide = kernels::as_f32(stored);
  double sum = 0;
  for (int64_t i = begin; i < begin + 32; ++i)
    sum += std::pow(static_cast<double>(x.data<float>()[i]) - wide.data<float>()[i], 2);
  return sum;
}

TEST(GgufGolden, FourBitErrorIsAtMostThatOfTheReference) {
  const auto file = golden();
  const Tensor x = file->get("f32");
  for (const char* name : {"q4_0", "q4_1"}) {
    const Tensor theirs = file->get(name);
    Tensor found = Tensor::empty(theirs.shape(), theirs.dtype());
    kernels::quantize(x, found);
    for (int64_t begin = 0; begin < x.elements(); begin += 32)
      EXPECT_LE(block_error(x, found, begin), block_error(x, theirs, begin) * (1 + 1e-5))
          << name << " " << begin;
  }
}

TEST(GgufGolden, ReportsShapesTypesAndNames) {
  const auto file = golden();
  EXPECT_EQ(file->names().size(), 19u);
  EXPECT_TRUE(file->contains("q6_k"));
  EXPECT_FALSE(file->contains("q7_k"));
  EXPECT_EQ(file->get("three.axes").shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(file->get("q6_k").dtype(), DType::q6_K);
  EXPECT_EQ(file->entry("q4_1").type, "Q4_1");
  expect_error([&] { file->get("none"); }, "all_types.gguf: there is no tensor none");
  expect_error(
      [&] { file->get("unusable"); },
      "all_types.gguf: unusable is IQ2_XXS, which heed does not support (supported: F32, F16, "
      "Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, I32, BF16, "
      "MXFP4)");
  EXPECT_EQ(file->entry("unusable").shape, (Shape{2, 256}));
}

TEST(GgufGolden, ReadsMetadataOfEveryType) {
  const GgufMetadata values = golden()->metadata();
  EXPECT_EQ(values.get<std::string>("general.architecture"), "test");
  EXPECT_EQ(values.get<int64_t>("test.u8"), 255);
  EXPECT_EQ(values.get<int64_t>("test.i8"), -128);
  EXPECT_EQ(values.get<int64_t>("test.u16"), 65535);
  EXPECT_EQ(values.get<int64_t>("test.i16"), -32768);
  EXPECT_EQ(values.get<int64_t>("test.u32"), 4294967295);
  EXPECT_EQ(values.get<int64_t>("test.i32"), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(values.get<int64_t>("test.i64"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(values.get<double>("test.u64"), 0x1p64);
  EXPECT_EQ(values.get<double>("test.f32"), static_cast<double>(0.1f));
  EXPECT_EQ(values.get<double>("test.f64"), 0.1);
  EXPECT_EQ(values.get<double>("test.i8"), -128.0);
  EXPECT_TRUE(values.get<bool>("test.yes"));
  EXPECT_FALSE(values.get<bool>("test.no"));
  EXPECT_EQ(values.get<std::string>("test.string"), "ünï");
  EXPECT_EQ(values.get<std::vector<int64_t>>("test.integers"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(values.get<std::vector<double>>("test.integers"), (std::vector<double>{1, -2, 3}));
  EXPECT_EQ(values.get<std::vector<double>>("test.numbers"), (std::vector<double>{0.5, -1.25}));
  EXPECT_EQ(values.get<std::vector<bool>>("test.booleans"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(values.get<std::vector<std::string>>("tokenizer.ggml.tokens"),
            (std::vector<std::string>{"<unk>", "\u2581the", "<0x0A>", ""}));
  EXPECT_EQ(values.length("tokenizer.ggml.tokens"), 4);
  EXPECT_EQ(values.length("test.nested"), 2);
}

TEST(GgufMetadata, ReportsMissingKeysAndWrongTypes) {
  const GgufMetadata values = golden()->metadata();
  EXPECT_EQ(values.get_or<int64_t>("test.none", 7), 7);
  EXPECT_EQ(values.get_or<int64_t>("test.u8", 7), 255);
  EXPECT_TRUE(values.contains("test.u8"));
  expect_error([&] { values.get<int64_t>("test.none"); }, "all_types.gguf: test.none is missing");
  expect_error([&] { values.get<int64_t>("test.string"); },
               "test.string is the string \"\u00fcn\u00ef\", expected an integer");
  expect_error([&] { values.get<int64_t>("test.f64"); },
               "test.f64 is the number 0.1, expected an integer");
  expect_error([&] { values.get<int64_t>("test.u64"); },
               "test.u64 is 18446744073709551615, which does not fit into a signed 64-bit integer");
  expect_error([&] { values.get<bool>("test.u8"); }, "test.u8 is 255, expected a boolean");
  expect_error([&] { values.get<std::string>("test.yes"); }, "test.yes is true, expected a string");
  expect_error([&] { values.get<double>("tokenizer.ggml.tokens"); },
               "tokenizer.ggml.tokens is an array of 4 strings, expected a number");
  expect_error([&] { values.get<std::vector<int64_t>>("tokenizer.ggml.tokens"); },
               "an array of 4 strings, expected an array in which each element is an integer");
  expect_error([&] { values.get<std::vector<int64_t>>("test.nested"); },
               "test.nested is an array of 2 arrays, expected");
  expect_error([&] { values.get<std::vector<std::string>>("test.string"); },
               "expected an array in which each element is a string");
  expect_error([&] { values.length("test.u8"); }, "test.u8 is 255, expected an array");
}

TEST(GgufMetadata, StaysReadableAfterTheFileObjectIsDestroyed) {
  const auto bytes = GgufBytes().value("a", GgufType::string, GgufBytes::text("b"));
  EXPECT_EQ(metadata_of(bytes).get<std::string>("a"), "b");
}

TEST(GgufMetadata, ReturnsStringsThatAreNotUtf8Unchanged) {
  const auto bytes = GgufBytes().value(
      "tokens", GgufType::array,
      GgufBytes::number(uint32_t{8}) + GgufBytes::number(uint64_t{1}) + GgufBytes::text("\xff\0"));
  EXPECT_EQ(metadata_of(bytes).get<std::vector<std::string>>("tokens")[0], "\xff");
}

TEST(GgufMetadata, IsReadWithoutLookingAtTensors) {
  const TemporaryDirectory folder;
  std::string bytes = GgufBytes().value("a", GgufType::u8, "\x05").bytes();
  bytes[8] = 1;  // the number of tensors, of which there is none
  write_quickly(folder / "model.gguf", bytes + std::string(64, '\xFF'));
  EXPECT_EQ(GgufMetadata::open(folder / "model.gguf").get<int64_t>("a"), 5);
  EXPECT_TRUE(is_gguf(folder / "model.gguf"));
  expect_error([&] { GgufFile::open(folder / "model.gguf"); }, "model.gguf");
  write_quickly(folder / "short", "GGU");
  EXPECT_FALSE(is_gguf(folder / "short"));
  expect_error([&] { GgufMetadata::open(folder / "short"); }, "does not begin with \"GGUF\"");
  expect_error([&] { is_gguf(folder / "absent"); }, "absent");
}

TEST(Gguf, ReadsVersion2) {
  EXPECT_EQ(metadata_of(GgufBytes().version(2).value("a", GgufType::u8, "\x05")).get<int64_t>("a"),
            5);
}

TEST(Gguf, ReadsAnotherAlignment) {
  const TemporaryDirectory folder;
  const std::string data =
      GgufBytes::number(1.5f) + std::string(60, '\0') + GgufBytes::number(2.5f);
  write_quickly(folder / "some.gguf",
                GgufBytes()
                    .value("general.alignment", GgufType::u32, GgufBytes::number(uint32_t{64}))
                    .tensor("a", {1}, 0, 0)
                    .tensor("b", {1, 1}, 0, 64)
                    .bytes(data, 64));
  const auto file = GgufFile::open(folder / "some.gguf");
  EXPECT_EQ(file->get("a").values<float>()[0], 1.5f);
  EXPECT_EQ(file->get("b").values<float>()[0], 2.5f);
}

TEST(Gguf, ViewsOutliveTheFileObject) {
  auto file = golden();
  const Tensor view = file->get("three.axes");
  file.reset();
  EXPECT_EQ(view.values<float>()[23], 23.0f);
}

TEST(Gguf, ReleasedTensorsCanBeReadAgain) {
  const auto file = golden();
  const Tensor before = file->get("f32").clone(), view = file->get("f32");
  for (const std::string& name : file->names()) file->release(name);
  EXPECT_EQ(std::memcmp(before.raw(), view.raw(), static_cast<size_t>(view.bytes())), 0);
  expect_error([&] { file->release("none"); }, "there is no tensor none");
}

/// The resident size of a mapped file in this process, in KiB.
int64_t resident(const fs::path& file) {
  std::ifstream maps("/proc/self/smaps");
  int64_t sum = 0;
  bool wanted = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    int64_t amount = 0;
    words >> first;
    if (!first.ends_with(':'))
      wanted = line.ends_with(file.string());
    else if (wanted && first == "Rss:" && words >> amount)
      sum += amount;
  }
  return sum;
}

TEST(Gguf, ReleasedTensorsLeaveNoResidentPages) {
  constexpr uint64_t kSide = 1024, kMatrix = kSide * kSide * 4, kVector = kSide * 4;
  const TemporaryDirectory folder;
  const fs::path path = folder / "some.gguf";
  write_quickly(path, GgufBytes()
                          .tensor("a", {kSide, kSide}, 0, 0)
                          .tensor("b", {kSide}, 0, kMatrix)
                          .tensor("c", {kSide, kSide}, 0, kMatrix + kVector)
                          .bytes(std::string(2 * kMatrix + kVector, '\0')));
  const auto file = GgufFile::open(path);
  for (const char* name : {"a", "c"}) {
    const Tensor copy = file->get(name).clone();
    EXPECT_GE(resident(path), static_cast<int64_t>(kMatrix) / 1024);
    file->release(name);
  }
  EXPECT_EQ(file->get("b").values<float>()[5], 0.0f);
  EXPECT_EQ(resident(path), 0);
}

TEST(Gguf, ReadsEmptyTensorsAndScalars) {
  const TemporaryDirectory folder;
  write_quickly(folder / "some.gguf", GgufBytes()
                                          .tensor("none", {0, 3}, 0, 0)
                                          .tensor("one", {}, 0, 0)
                                          .bytes(GgufBytes::number(4.0f)));
  const auto file = GgufFile::open(folder / "some.gguf");
  EXPECT_EQ(file->get("none").shape(), (Shape{3, 0}));
  EXPECT_EQ(file->get("one").values<float>()[0], 4.0f);
}

}  // namespace
}  // namespace heed::io
