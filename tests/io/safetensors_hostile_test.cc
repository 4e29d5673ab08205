#include <gtest/gtest.h>

#include "heed/io/safetensors.h"
#include "tests/base/testing.h"
#include "tests/io/safetensors_bytes.h"

namespace heed::io {
namespace {

class SafetensorsHostile : public testing::Test {
 protected:
  /// Expects that a file of these bytes is rejected with this reason.
  void expect(const std::string& bytes, const std::string& reason) const {
    write_quickly(folder_ / "bad.safetensors", bytes);
    expect_error([&] { SafetensorsFile::open(folder_ / "bad.safetensors"); },
                 "bad.safetensors: " + reason);
  }

  /// The same for a file with one tensor "x" and four bytes of data.
  void expect_entry(const std::string& entry, const std::string& reason) const {
    expect(file_bytes("{\"x\":" + entry + "}", "data"), "x: " + reason);
  }

  const TemporaryDirectory folder_;
};

constexpr const char* kGood = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST_F(SafetensorsHostile, AcceptsTheValidFile) {
  write_quickly(folder_ / "good", file_bytes(kGood, "data"));
  EXPECT_TRUE(SafetensorsFile::open(folder_ / "good")->contains("x"));
}

TEST_F(SafetensorsHostile, APointerOfGitLfsIsNamed) {
  expect("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
         "is a pointer to a file of Git LFS: git lfs pull fetches the file");
}

TEST_F(SafetensorsHostile, RejectsFilesShorterThanTheLengthField) {
  expect("", "has 0 bytes, too few for a safetensors file");
  expect("1234567", "has 7 bytes");
}

TEST_F(SafetensorsHostile, RejectsTruncationAtEveryByte) {
  const std::string whole = file_bytes(kGood, "data");
  for (size_t size = 0; size < whole.size(); ++size) {
    write_quickly(folder_ / "cut", whole.substr(0, size));
    expect_error([&] { SafetensorsFile::open(folder_ / "cut"); }, "cut: ");
  }
}

TEST_F(SafetensorsHostile, RejectsAHeaderLongerThanTheFile) {
  const std::string header = kGood;
  expect(file_bytes(header, "", header.size() + 1), "its header should have");
  for (const uint64_t length :
       {uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 7})
    expect(file_bytes(header, "data", length), "its header should have");
}

TEST_F(SafetensorsHostile, RejectsAHeaderOfMoreThan100MiB) {
  const std::filesystem::path path = folder_ / "bad.safetensors";
  write_quickly(path, file_bytes("{", "", uint64_t{101} << 20));
  std::filesystem::resize_file(path, uint64_t{102} << 20);  // sparse
  expect_error([&] { SafetensorsFile::open(path); },
               "its header has 105906176 bytes, expected at most 104857600");
}

TEST_F(SafetensorsHostile, RejectsAHeaderThatIsNotAnObject) {
  expect(file_bytes("", ""), "is not JSON");
  expect(file_bytes("{\"x\":", ""), "is not JSON");
  expect(file_bytes("[1,2]", ""), "its header is [1,2], expected an object");
  expect(file_bytes("{\"\xff\":1}", ""), "is not JSON");
  expect(file_bytes(std::string(1000000, '['), ""), "brackets nest deeper than 64 levels");
}

TEST_F(SafetensorsHostile, RejectsAnEntryThatIsNotAnObject) {
  expect_entry("7", "expected an object, found 7");
  expect_entry("null", "expected an object, found null");
}

TEST_F(SafetensorsHostile, RejectsAnEntryWithMissingMembers) {
  expect_entry(R"({"shape":[1],"data_offsets":[0,4]})", "dtype is missing");
  expect_entry(R"({"dtype":"F32","data_offsets":[0,4]})", "shape or data_offsets is missing");
  expect_entry(R"({"dtype":"F32","shape":[1]})", "shape or data_offsets is missing");
}

TEST_F(SafetensorsHostile, RejectsAnUnknownDtype) {
  expect_entry(R"({"dtype":"F33","shape":[1],"data_offsets":[0,4]})", "dtype F33 is not known");
  expect_entry(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})",
               "dtype is 32, expected a string");
}

TEST_F(SafetensorsHostile, RejectsAnInvalidShape) {
  const auto expect_shape = [&](const std::string& shape, const std::string& reason) {
    expect_entry(R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]})", reason);
  };
  expect_shape("1", "shape is 1, expected up to 4 sizes");
  expect_shape("[1,1,1,1,1]", "shape is [1,1,1,1,1], expected up to 4 sizes");
  expect_shape("[-1]", "a size is -1, expected 0 to");
  expect_shape("[1.0]", "a size is 1.0, expected an integer");
  expect_shape("[\"1\"]", "a size is \"1\", expected an integer");
  expect_shape("[18446744073709551615]", "a size is 18446744073709551615, expected 0 to");
  expect_shape("[1180591620717411303424]", "a size is 1.1805916207174113e+21, expected an integer");
}

TEST_F(SafetensorsHostile, RejectsAShapeWhoseProductOverflows) {
  const auto expect_shape = [&](const std::string& shape, const std::string& reason) {
    expect_entry(R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]})", reason);
  };
  expect_shape("[4294967296,4294967296]", "a shape [4294967296, 4294967296] has too many elements");
  // 2^62 + 1 elements of four bytes are four bytes, modulo 2^64.
  expect_shape("[4611686018427387905]", "a shape [4611686018427387905] has too many elements");
  expect_shape("[1152921504606846975]",
               "F32 [1152921504606846975] needs 4611686018427387900 bytes, data_offsets span 4");
}

TEST_F(SafetensorsHostile, RejectsAShapeThatContradictsTheOffsets) {
  expect_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})",
               "F32 [2] needs 8 bytes, data_offsets span 4");
  expect_entry(R"({"dtype":"F32","shape":[0],"data_offsets":[0,4]})",
               "F32 [0] needs 0 bytes, data_offsets span 4");
  expect_entry(R"({"dtype":"F64","shape":[],"data_offsets":[0,4]})",
               "F64 [] needs 8 bytes, data_offsets span 4");
}

TEST_F(SafetensorsHostile, RejectsOffsetsOutsideTheData) {
  const auto expect_offsets = [&](const std::string& offsets, const std::string& reason) {
    expect_entry(R"({"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}", reason);
  };
  expect_offsets("[1,5]", "data_offsets are [1, 5], but the data has 4 bytes");
  expect_offsets("[4,0]", "data_offsets are [4, 0], but the data has 4 bytes");
  expect_offsets("[9223372036854775803,9223372036854775807]",
                 "data_offsets are [9223372036854775803, 9223372036854775807], but the data has 4");
  expect_offsets("[-4,0]", "an offset is -4, expected 0 to");
  expect_offsets("[0]", "data_offsets is [0], expected two numbers");
  expect_offsets("[0,4,8]", "data_offsets is [0,4,8], expected two numbers");
  expect_offsets("{}", "data_offsets is {}, expected two numbers");
  expect_offsets("[0,4.0]", "an offset is 4.0, expected an integer");
}

TEST_F(SafetensorsHostile, RejectsOverlappingTensors) {
  expect(file_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                    "123456"),
         "y begins at byte 2 of the data, but the tensor before it ends at 4");
  expect(file_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                    "1234"),
         "y begins at byte 0 of the data, but the tensor before it ends at 4");
}

TEST_F(SafetensorsHostile, RejectsGapsBetweenTensors) {
  expect(file_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})", "123456"),
         "x begins at byte 2 of the data, but the data before it ends at 0");
  expect(file_bytes(kGood, "12345"), "the last 1 bytes belong to no tensor");
  expect(file_bytes("{}", "1"), "the last 1 bytes belong to no tensor");
}

TEST_F(SafetensorsHostile, RejectsDuplicateNames) {
  expect(file_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                    "1234"),
         "x occurs twice");
}

TEST_F(SafetensorsHostile, EscapesNamesInMessages) {
  expect(file_bytes(R"({"a\nb\u001b":1})", ""), "a\\nb\\u001b: expected an object");
}

TEST_F(SafetensorsHostile, RejectsMetadataThatIsNotText) {
  expect(file_bytes(R"({"__metadata__":{"step":3}})", ""),
         "__metadata__: step is 3, expected a string");
  expect(file_bytes(R"({"__metadata__":[]})", ""), "__metadata__ is [], expected an object");
}

}  // namespace
}  // namespace heed::io
