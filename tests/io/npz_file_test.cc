#include "heed/io/npz_file.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/error.h"
#include "tests/base/testing.h"

namespace heed::io {
namespace {

/// A .npz of one array; `header` is the text of its header, `data` its bytes.
std::string npz(std::string header, const std::string& data, char version = 1) {
  header += '\n';
  const auto number = [](size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
    return text;
  };
  const std::string array = std::string("\x93NUMPY") + version + '\0' +
                            number(header.size(), version == 1 ? 2 : 4) + header + data;
  const std::string name = "a.npy";
  const std::string sizes = number(array.size(), 4) + number(array.size(), 4);
  const std::string local = std::string("PK\3\4", 4) + number(20, 2) + number(0, 12) + sizes +
                            number(name.size(), 2) + number(0, 2) + name + array;
  const std::string entry = std::string("PK\1\2", 4) + number(20, 2) + number(20, 2) +
                            number(0, 12) + sizes + number(name.size(), 2) + number(0, 12) +
                            number(0, 4) + name;
  return local + entry + std::string("PK\5\6", 4) + number(0, 4) + number(1, 2) + number(1, 2) +
         number(entry.size(), 4) + number(local.size(), 4) + number(0, 2);
}

constexpr const char* kFloats = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
const std::string kOneAndTwo("\0\0\x80\x3f\0\0\0\x40", 8);

std::string npz_error(const std::string& file) {
  const TemporaryDirectory folder;
  write_quickly(folder / "f.npz", file);
  try {
    NpzFile::open(folder / "f.npz");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(NpzFile, HasTheArraysOfNumpy) {
  for (const char version : {'\1', '\2', '\3'}) {
    const TemporaryDirectory folder;
    write_quickly(folder / "f.npz", npz(kFloats, kOneAndTwo, version));
    const auto file = NpzFile::open(folder / "f.npz");
    EXPECT_EQ(file->names(), std::vector<std::string>{"a"});
    EXPECT_EQ(file->shape("a"), (Shape{1, 2}));
    const Tensor a = file->get("a");
    EXPECT_EQ(a.data<float>()[0], 1.0f);
    EXPECT_EQ(a.data<float>()[1], 2.0f);
    EXPECT_THROW(file->get("b"), Error);
    EXPECT_THROW(file->text("a"), Error);
  }
  const TemporaryDirectory folder;
  write_quickly(folder / "f.npz",
                npz("{'descr': '|i1', 'fortran_order': False, 'shape': (3,)}", "abc"));
  EXPECT_EQ(NpzFile::open(folder / "f.npz")->text("a"), "abc");
}

TEST(NpzFile, IsReadAsMarianWritesIt) {
  const auto file =
      NpzFile::open(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/marian/post/model.npz");
  EXPECT_EQ(file->shape("encoder_l1_self_Wq"), (Shape{16, 16}));
  EXPECT_TRUE(file->text("special:model.yml").starts_with("bert-train-type-embeddings"));
}

TEST(NpzFile, ThatIsDamagedIsRefused) {
  const auto with = [](const std::string& header, const std::string& data = kOneAndTwo) {
    return npz_error(npz(header, data));
  };
  EXPECT_NE(with("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}").find("Fortran"),
            std::string::npos);
  EXPECT_NE(with("{'descr': '|O', 'fortran_order': False, 'shape': (1, 2)}")
                .find("has the dtype \"|O\", which heed does not read"),
            std::string::npos);
  EXPECT_NE(with("{'descr': '<f4', 'fortran_order': False}").find("no shape"), std::string::npos);
  EXPECT_NE(with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}").find("no shape"),
            std::string::npos);
  EXPECT_NE(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3)}").find("expected 3"),
            std::string::npos);
  EXPECT_NE(with("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}")
                .find("fewer elements"),
            std::string::npos);
  EXPECT_NE(
      with("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 2)}").find("has 5 axes"),
      std::string::npos);
  EXPECT_NE(npz_error(npz(kFloats, kOneAndTwo, 9)).find("has version 9"), std::string::npos);
  EXPECT_NE(npz_error("PK").find("no zip archive"), std::string::npos);
  const std::string whole = npz(kFloats, kOneAndTwo);
  for (size_t size = 4; size < whole.size(); ++size)
    EXPECT_NE(npz_error(whole.substr(0, size)), "no error") << size;
}

}  // namespace
}  // namespace heed::io
