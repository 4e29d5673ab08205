// Malformed GGUF files, with a fault in each field: each gives a one-line error, and no allocation
// is sized by an unchecked number.
#include <gtest/gtest.h>

#include "heed/io/gguf/gguf_file.h"
#include "tests/base/testing.h"
#include "tests/io/gguf_bytes.h"

namespace heed::io {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 60;

void expect_rejected(const std::string& bytes, const std::string& part) {
  const TemporaryDirectory folder;
  write_quickly(folder / "bad.gguf", bytes);
  expect_error([&] { GgufFile::open(folder / "bad.gguf"); }, part);
}

template <typename T>
std::string number(T value) {
  return GgufBytes::number(value);
}

std::string array(uint32_t type, uint64_t count, const std::string& elements = "") {
  return number(type) + number(count) + elements;
}

TEST(GgufHostile, RejectsOtherFormatsAndVersions) {
  expect_rejected("", "bad.gguf: is not a GGUF file: it does not begin with \"GGUF\"");
  expect_rejected("GGU", "does not begin with \"GGUF\"");
  expect_rejected("PK\3\4 and more", "does not begin with \"GGUF\"");
  expect_rejected("GGUF", "the version at byte 4 should have 4 bytes, but only 0 follow");
  expect_rejected(GgufBytes().version(1).bytes(), "has GGUF version 1, expected 2 or 3");
  expect_rejected(GgufBytes().version(4).bytes(), "has GGUF version 4, expected 2 or 3");
  expect_rejected(GgufBytes().version(0x03000000).bytes(), "is a big-endian GGUF file");
}

TEST(GgufHostile, RejectsTruncationAtEveryByte) {
  const std::string whole = GgufBytes()
                                .value("a", GgufType::string, GgufBytes::text("text"))
                                .value("b", GgufType::array, array(8, 1, GgufBytes::text("x")))
                                .tensor("t", {4, 2}, 0, 0)
                                .bytes(std::string(32, 'd'));
  for (size_t size = 0; size < whole.size(); ++size)
    expect_rejected(whole.substr(0, size), "bad.gguf: ");
}

TEST(GgufHostile, RejectsCountsBeyondTheFile) {
  expect_rejected(GgufBytes().counts(kHuge, 0).bytes(),
                  "the list of tensors should have 1152921504606846976 elements, but only 8 bytes");
  expect_rejected(GgufBytes().counts(0, kHuge).bytes(),
                  "the metadata should have 1152921504606846976 elements, but only 0 bytes");
  expect_rejected(GgufBytes().counts(0, UINT64_MAX).bytes(), "the metadata should have");
  expect_rejected(GgufBytes().value("a", GgufType::u8, "\x01").counts(1, 1).bytes(), "tensors");
}

TEST(GgufHostile, RejectsStringsBeyondTheFile) {
  expect_rejected(GgufBytes().value("key", GgufType::string, number(kHuge)).bytes(),
                  "bad.gguf: key at byte");
  expect_rejected(GgufBytes().value("key", GgufType::string, number(UINT64_MAX)).bytes(),
                  "should have 18446744073709551615 bytes, but only 0 follow");
  // The length of the key.
  std::string bytes = GgufBytes().value("key", GgufType::u64, number(uint64_t{1})).bytes();
  bytes.replace(24, 8, number(UINT64_MAX));
  expect_rejected(bytes, "a key of the metadata at byte 32 should have");
}

TEST(GgufHostile, RejectsArraysBeyondTheFile) {
  for (const uint32_t type : {0u, 5u, 8u, 9u, 12u})
    expect_rejected(GgufBytes().value("key", GgufType::array, array(type, kHuge)).bytes(),
                    "bad.gguf: key should have 1152921504606846976 elements, but only 0 bytes");
  expect_rejected(GgufBytes().value("key", GgufType::array, array(13, 0)).bytes(),
                  "bad.gguf: key has the unknown type 13");
  expect_rejected(
      GgufBytes()
          .value("key", GgufType::array, array(8, 2, GgufBytes::text("a") + number(kHuge)))
          .bytes(),
      "bad.gguf: key at byte");
}

TEST(GgufHostile, RejectsDeeplyNestedArrays) {
  std::string nested = array(0, 0);
  for (int depth = 0; depth < 1000; ++depth) nested = array(9, 1, nested);
  expect_rejected(GgufBytes().value("key", GgufType::array, nested).bytes(),
                  "bad.gguf: key has nested arrays, 9 levels deep, expected at most 8");
  expect_rejected(GgufBytes().value("key", GgufType::array, array(9, 1, array(9, kHuge))).bytes(),
                  "key should have 1152921504606846976 elements");
}

TEST(GgufHostile, RejectsUnknownTypes) {
  expect_rejected(GgufBytes().value("key", 13, "").bytes() + "x",
                  "bad.gguf: key has the unknown type 13");
  expect_rejected(GgufBytes().value("key", UINT32_MAX, "").bytes() + "x",
                  "has the unknown type 4294967295");
  for (const uint32_t type : {4u, 5u, 31u, 99u})
    expect_rejected(GgufBytes().tensor("t", {32}, type, 0).bytes(std::string(64, 'd')),
                    fmt::format("bad.gguf: t has the unknown type {}", type));
}

TEST(GgufHostile, RejectsDuplicateKeysAndTensors) {
  expect_rejected(
      GgufBytes().value("key", GgufType::u8, "\1").value("key", GgufType::u8, "\2").bytes(),
      "bad.gguf: key occurs twice");
  expect_rejected(
      GgufBytes().tensor("t", {1}, 0, 0).tensor("t", {1}, 0, 32).bytes(std::string(64, 'd')),
      "bad.gguf: t occurs twice");
}

TEST(GgufHostile, RejectsImpossibleShapes) {
  const auto refuse = [](const std::vector<uint64_t>& sizes, uint32_t type,
                         const std::string& part) {
    expect_rejected(GgufBytes().tensor("t", sizes, type, 0).bytes(std::string(64, 'd')), part);
  };
  refuse({1, 1, 1, 1, 1}, 0, "bad.gguf: t has 5 axes, expected at most 4");
  refuse({UINT64_MAX}, 0, "t: an axis has size 18446744073709551615");
  refuse({kHuge}, 0, "too many elements");
  refuse({uint64_t{1} << 40, uint64_t{1} << 40}, 0, "too many elements");
  refuse({kHuge / 2}, 28, "t F64 [576460752303423488] needs 4611686018427387904 bytes");
  refuse({48, 2}, 2, "bad.gguf: t is Q4_0 [2, 48], expected rows of whole blocks of 32 elements");
  refuse({128}, 14, "t is Q6_K [128], expected rows of whole blocks of 256 elements");
  refuse({}, 8, "t is Q8_0 [], expected rows of whole blocks of 32 elements");
  std::string bytes = GgufBytes().tensor("t", {1}, 0, 0).bytes();
  bytes.replace(24 + 9, 4, number(UINT32_MAX));
  expect_rejected(bytes, "t has 4294967295 axes");
}

TEST(GgufHostile, RejectsOffsetsOutsideTheData) {
  const auto refuse = [](uint64_t offset, const std::string& part) {
    expect_rejected(GgufBytes().tensor("t", {4}, 0, offset).bytes(std::string(64, 'd')), part);
  };
  refuse(8, "bad.gguf: t begins at byte 8 of the data, expected a multiple of 32");
  refuse(64, "t F32 [4] needs 16 bytes from byte 64 of the data, which has 64 bytes");
  refuse(kHuge, "from byte 1152921504606846976 of the data");
  refuse(UINT64_MAX - 31, "from byte 18446744073709551584 of the data");
  expect_rejected(GgufBytes().tensor("t", {1}, 0, 0).bytes(), "which has 0 bytes");
}

TEST(GgufHostile, RejectsOverlappingTensors) {
  expect_rejected(
      GgufBytes().tensor("b", {16}, 0, 0).tensor("a", {4}, 0, 32).bytes(std::string(64, 'd')),
      "bad.gguf: b and a overlap");
  expect_rejected(
      GgufBytes().tensor("a", {4}, 0, 32).tensor("b", {4}, 0, 32).bytes(std::string(64, 'd')),
      "overlap");
}

TEST(GgufHostile, RejectsInvalidAlignments) {
  const auto refuse = [](GgufType type, const std::string& value, const std::string& part) {
    expect_rejected(GgufBytes()
                        .value("general.alignment", type, value)
                        .tensor("t", {4}, 0, 0)
                        .bytes(std::string(64, 'd')),
                    part);
  };
  for (const uint32_t alignment : {0u, 1u, 4u, 24u, 33u, 0xffffffffu})
    refuse(
        GgufType::u32, number(alignment),
        fmt::format("general.alignment is {}, expected a power of two of at least 8", alignment));
  refuse(GgufType::u64, number(uint64_t{1} << 62), "general.alignment is 4611686018427387904");
  refuse(GgufType::u64, number(UINT64_MAX), "does not fit into a signed 64-bit integer");
  refuse(GgufType::f32, number(32.0f), "general.alignment is the number 32, expected an integer");
  refuse(GgufType::u32, number(uint32_t{1} << 31), "which has 0 bytes");
}

TEST(GgufHostile, EscapesNamesInMessages) {
  expect_rejected(GgufBytes().tensor("a\nb\x1b[31m", {1}, 99, 0).bytes(),
                  "has the unknown type 99");
  expect_rejected(GgufBytes().value(std::string(5000, 'k'), 77, "").bytes() + "x", "kkk");
}

}  // namespace
}  // namespace heed::io
