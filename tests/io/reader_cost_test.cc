// Files of weights of up to 1 MB that try to crash, hang or exhaust memory: each is read or refused
// at a bounded cost.
#include <gtest/gtest.h>

#include "heed/io/gguf/gguf_file.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/io/safetensors.h"
#include "heed/io/word_vectors.h"
#include "tests/base/cost.h"
#include "tests/io/gguf_bytes.h"
#include "tests/io/safetensors_bytes.h"
#include "tests/io/torch_bytes.h"

namespace heed::io {
namespace {

std::string read_with(const std::function<void(const std::filesystem::path&)>& read,
                      const std::string& bytes) {
  const TemporaryDirectory folder;
  write_quickly(folder / "file", bytes);
  return expect_cheap([&] { read(folder / "file"); });
}

TEST(ReaderCost, SafetensorsHeaders) {
  const auto read = [](const std::string& header) {
    return read_with([](const auto& path) { SafetensorsFile::open(path); }, file_bytes(header, ""));
  };
  EXPECT_NE(read(std::string(kHostileBytes, '[')).find("deeper than 64"), std::string::npos);
  EXPECT_NE(read('[' + repeated("[],", kHostileBytes / 3) + "0]").find("expected an object"),
            std::string::npos);
  std::string empty, metadata;
  for (int i = 0; i < 18000; ++i) {
    empty += fmt::format("\"{}\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}},", i);
    metadata += fmt::format("\"{}\":\"\",", i);
  }
  EXPECT_EQ(read('{' + empty + "\"__metadata__\":{" + metadata + "\"\":\"\"}}"), "");
  const std::string entry = "\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},";
  EXPECT_NE(read('{' + repeated(entry, 20000) + "\"b\":0}").find("occurs twice"),
            std::string::npos);
  EXPECT_NE(read("{\"a\":{\"dtype\":\"F32\",\"shape\":[" + repeated("1,", 500000) + "1]}}"), "");
  EXPECT_NE(read("{\"" + repeated("\\u001b[2J", 100000) + "\":0}"), "");
}

TEST(ReaderCost, Pickles) {
  using namespace pickled;
  const auto read = [](const std::string& value) {
    return read_with([](const auto& path) { PyTorchFile::open(path); },
                     torch_zip(value, {}).bytes());
  };
  const std::string most = "takes more memory than a file of its size may";
  for (const char* instruction : {"N", "}", ")", "]", "K\1"})
    EXPECT_NE(read(repeated(instruction, kHostileBytes)).find(most), std::string::npos);
  EXPECT_NE(read("N" + std::string(kHostileBytes, '\x94')).find(most), std::string::npos);
  EXPECT_NE(read(")" + std::string(kHostileBytes, '\x85')).find(most), std::string::npos);
  EXPECT_NE(read(repeated("U\4abcd0", 100000) + "N").find("expected a dict"), std::string::npos);
  // An OrderedDict of 100,000 pairs, again and again.
  const std::string pairs = "](" + repeated("NN\x86", 100000) + "eq\1";
  const std::string call = "0" + global("collections", "OrderedDict") + "h\1\x85R";
  EXPECT_NE(read(pairs + repeated(call, 10000)).find(most), std::string::npos);
  EXPECT_NE(read(std::string(kHostileBytes, 'c')).find("no line ends"), std::string::npos);
  EXPECT_NE(read(global(std::string(kHostileBytes / 2, 'x'), "\x1b")).find("the pickle names xxx"),
            std::string::npos);
  std::string tensors;
  for (int i = 0; i < 5000; ++i)
    tensors += text(fmt::format("{}", i)) + tensor(storage("0", 0), 0, {0}, {1});
  EXPECT_NE(read("}(" + tensors + "u").find("the storage \"0\" is missing"), std::string::npos);
}

TEST(ReaderCost, ZipArchives) {
  const auto read = [](const std::string& bytes) {
    return read_with([](const auto& path) { PyTorchFile::open(path); }, bytes);
  };
  ZipBytes empty;
  for (int i = 0; i < 8000; ++i) empty.add({fmt::format("{}", i), ""});
  EXPECT_NE(read(empty.bytes()).find("without a file data.pkl"), std::string::npos);
  EXPECT_NE(read("PK\3\4" + repeated("PK\5\6", kHostileBytes / 4)).find("has no end"),
            std::string::npos);
}

std::string array(GgufType type, uint64_t count, const std::string& elements) {
  return GgufBytes::number(static_cast<uint32_t>(type)) + GgufBytes::number(count) + elements;
}

TEST(ReaderCost, GgufMetadata) {
  const auto read = [](const GgufBytes& bytes) {
    return read_with([](const auto& path) { GgufFile::open(path); }, bytes.bytes());
  };
  GgufBytes keys, tensors;
  for (int i = 0; i < 40000; ++i) keys.value(fmt::format("{}", i), GgufType::u8, "x");
  for (int i = 0; i < 30000; ++i) tensors.tensor(fmt::format("{}", i), {0}, 0, 0);
  EXPECT_EQ(read(keys), "");
  EXPECT_EQ(read(tensors), "");
  const std::string text = GgufBytes::text("");
  EXPECT_EQ(read(GgufBytes().value("a", GgufType::array,
                                   array(GgufType::string, 130000, repeated(text, 130000)))),
            "");
  // Arrays that nest, and arrays of empty arrays.
  const std::string level = array(GgufType::array, 1, "");
  EXPECT_NE(read(GgufBytes().value("a", GgufType::array, repeated(level, 80000))), "");
  const std::string none = array(GgufType::u8, 0, "");
  EXPECT_EQ(read(GgufBytes().value("a", GgufType::array,
                                   array(GgufType::array, 80000, repeated(none, 80000)))),
            "");
  EXPECT_NE(read(GgufBytes().value(repeated("\x1b[2J", 200000), GgufType::string, "")), "");
}

TEST(ReaderCost, WordVectors) {
  const auto read = [](const std::string& bytes) {
    return read_with([](const auto& path) { read_word_vectors(path, {"a", "0", ""}); }, bytes);
  };
  EXPECT_EQ(read(repeated("a 1\n", kHostileBytes / 4)), "");
  EXPECT_NE(read(repeated("\n", kHostileBytes)), "");
  EXPECT_NE(read(repeated(" 1", kHostileBytes / 2)), "");
  EXPECT_NE(read("9000000000000000000 1\n" + repeated("a 1\n", kHostileBytes / 4)), "");
  EXPECT_NE(read("9000000000000000000 1\n" + std::string(kHostileBytes, '\x01')), "");
  EXPECT_NE(read("1 65536\n" + std::string(kHostileBytes, '\x01')), "");
  EXPECT_EQ(read("a 0." + std::string(kHostileBytes, '1')), "");
  EXPECT_NE(read("a " + repeated("\x1b[2J", kHostileBytes / 4)), "");
}

}  // namespace
}  // namespace heed::io
