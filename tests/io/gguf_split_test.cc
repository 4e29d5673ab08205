// Models that are split over several GGUF files.
#include <gtest/gtest.h>

#include "heed/io/gguf/gguf_file.h"
#include "tests/io/gguf_bytes.h"

namespace heed::io {
namespace {

constexpr uint32_t kF32 = 0;

/// File `number` of `count`, with the tensors "tNUMBER" and, if `more`, "more", of 8 elements.
GgufBytes split_file(uint16_t number, uint16_t count, int32_t tensors, bool more = false) {
  GgufBytes file;
  file.value("split.no", GgufType::u16, GgufBytes::number(number))
      .value("split.count", GgufType::u16, GgufBytes::number(count))
      .value("split.tensors.count", GgufType::i32, GgufBytes::number(tensors));
  file.tensor("t" + std::to_string(number), {8}, kF32, 0);
  if (more) file.tensor("more", {8}, kF32, 32);
  return file;
}

std::string data(float first) {
  std::string bytes;
  for (int i = 0; i < 16; ++i) bytes += GgufBytes::number(first + static_cast<float>(i));
  return bytes;
}

class GgufSplit : public testing::Test {
 protected:
  std::filesystem::path path(int number, int count = 3) const {
    char name[40];
    std::snprintf(name, sizeof(name), "m-%05d-of-%05d.gguf", number, count);
    return folder_ / name;
  }
  void write(int number, const GgufBytes& file) const {
    write_quickly(path(number), file.bytes(data(static_cast<float>(100 * number))));
  }
  void write_all() const {
    for (int i = 0; i < 3; ++i) write(i + 1, split_file(static_cast<uint16_t>(i), 3, 4, i == 1));
  }
  void refuse(const std::filesystem::path& file, const std::string& message) const {
    expect_error([&] { GgufFile::open(file); }, message);
  }

  TemporaryDirectory folder_;
};

TEST_F(GgufSplit, TheFirstFileHasTheTensorsOfAll) {
  write_all();
  const auto file = GgufFile::open(path(1));
  EXPECT_EQ(file->names().size(), 4u);
  EXPECT_EQ(file->get("t0").data<float>()[0], 100.0f);
  EXPECT_EQ(file->get("t1").data<float>()[1], 201.0f);
  EXPECT_EQ(file->get("more").data<float>()[0], 208.0f);
  EXPECT_EQ(file->get("t2").data<float>()[7], 307.0f);
  EXPECT_FALSE(file->contains("t3"));
  file->release_all(file->names());
  EXPECT_EQ(file->view("t2").data<float>()[0], 300.0f);
}

TEST_F(GgufSplit, AMissingFileIsNamed) {
  write_all();
  std::filesystem::remove(path(2));
  refuse(path(1), "m-00002-of-00003.gguf: file 2 of 3 is missing");
}

TEST_F(GgufSplit, TheFirstFileIsExpected) {
  write_all();
  refuse(path(3), "m-00003-of-00003.gguf: is file 3 of 3, expected the first: ");
}

TEST_F(GgufSplit, FilesOfAnotherModelAreRefused) {
  write_all();
  write(2, split_file(1, 4, 4));
  refuse(path(1), "m-00002-of-00003.gguf: says it is file 2 of 4, expected 2 of 3");
  write(2, split_file(2, 3, 4));
  refuse(path(1), "m-00002-of-00003.gguf: says it is file 3 of 3, expected 2 of 3");
  write(2, split_file(1, 3, 4));
  refuse(path(1), "m-00001-of-00003.gguf: its 3 files have 3 tensors, expected 4");
  write(3, split_file(2, 3, 4, true));
  write(2, split_file(1, 3, 4, true));
  refuse(path(1), "m-00003-of-00003.gguf: more is in an earlier file, too");
}

TEST_F(GgufSplit, NamesAndCountsMustFit) {
  const auto file = folder_ / "renamed.gguf";
  write_quickly(file, split_file(0, 3, 4).bytes(data(0)));
  refuse(file, "is file 1 of 3, expected a name that ends with \"-00001-of-00003.gguf\"");
  write_quickly(file, split_file(5, 3, 4).bytes(data(0)));
  refuse(file, "is file 6 of 3, expected 1 to 3");
  write_quickly(file, split_file(0, 1, 1).bytes(data(0)));
  EXPECT_EQ(GgufFile::open(file)->names().size(), 1u);
}

}  // namespace
}  // namespace heed::io
