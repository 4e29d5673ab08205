#include "heed/io/word_vectors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heed/base/file.h"
#include "tests/base/testing.h"

namespace heed::io {
namespace {

class WordVectorsTest : public testing::Test {
 protected:
  WordVectors read(const std::string& bytes,
                   const std::unordered_set<std::string>& wanted = {"cat", "dog"}) const {
    write_quickly(folder_ / "vectors", bytes);
    return read_word_vectors(folder_ / "vectors", wanted);
  }

  void expect(const std::string& bytes, const std::string& reason) const {
    expect_error([&] { read(bytes); }, reason);
  }

  const TemporaryDirectory folder_;
};

using Row = std::vector<float>;

std::string binary(const std::string& header, const std::vector<std::pair<std::string, Row>>& words,
                   const char* end = "\n") {
  std::string bytes = header + "\n";
  for (const auto& [word, row] : words) {
    bytes += word + " ";
    bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
    bytes += end;
  }
  return bytes;
}

TEST_F(WordVectorsTest, ReadsTextWithAHeader) {
  const WordVectors vectors = read("3 2\ncat 1 -2.5\nbird 0 0\ndog 1e-3 4\n");
  EXPECT_EQ(vectors.dimension, 2);
  EXPECT_EQ(vectors.rows.size(), 2u);
  EXPECT_EQ(vectors.rows.at("cat"), (Row{1, -2.5f}));
  EXPECT_EQ(vectors.rows.at("dog"), (Row{1e-3f, 4}));
}

TEST_F(WordVectorsTest, ReadsTextWithoutAHeader) {
  const WordVectors vectors = read("bird 0 0 1\r\ncat\t1  2 3 \n\ndog 4 5 6");
  EXPECT_EQ(vectors.dimension, 3);
  EXPECT_EQ(vectors.rows.at("cat"), (Row{1, 2, 3}));
  EXPECT_EQ(vectors.rows.at("dog"), (Row{4, 5, 6}));
}

TEST_F(WordVectorsTest, ReadsShortIntegersAsText) {
  // The first row is shorter than its binary form would be.
  EXPECT_EQ(read("2 4\ncat 1 0 1 0\nhäuser 1 1 1 1\n").rows.at("cat"), (Row{1, 0, 1, 0}));
}

TEST_F(WordVectorsTest, ReadsBinary) {
  const std::vector<std::pair<std::string, Row>> words{
      {"bird", {0, 0.1f, 3}}, {"cat", {1, -2.5f, 1e-20f}}, {"dog", {4, 5, 6}}};
  for (const char* end : {"\n", ""}) {
    const WordVectors vectors = read(binary("3 3", words, end));
    EXPECT_EQ(vectors.dimension, 3);
    EXPECT_EQ(vectors.rows.size(), 2u);
    EXPECT_EQ(vectors.rows.at("cat"), words[1].second);
    EXPECT_EQ(vectors.rows.at("dog"), words[2].second);
  }
}

TEST_F(WordVectorsTest, ReadsWordsOfAnyBytes) {
  EXPECT_EQ(read("dogs\xff 1 2\n", {"dogs\xff"}).rows.size(), 1u);
  EXPECT_EQ(read(". 1 2\n. . . 3 4\n", {". . ."}).rows.at(". . ."), (Row{3, 4}));
}

TEST_F(WordVectorsTest, KeepsTheFirstVectorOfAWord) {
  EXPECT_EQ(read("cat 1 2\ncat 3 4\n").rows.at("cat"), (Row{1, 2}));
}

TEST_F(WordVectorsTest, ReadsNumbersTooSmallForAFloat) {
  EXPECT_EQ(read("cat 1e-60 2\n").rows.at("cat"), (Row{0, 2}));
}

TEST_F(WordVectorsTest, ReturnsNoRowsWhenNoWantedWordOccurs) {
  EXPECT_TRUE(read("bird 1 2\n").rows.empty());
  EXPECT_EQ(read("bird 1 2\n").dimension, 2);
}

TEST_F(WordVectorsTest, ReportsTheLineOfAFault) {
  expect("2 2\ncat 1 2\ndog 1\n", "vectors:3: 1 numbers, expected 2");
  expect("bird 1 2\ncat 1 2 3\n", "vectors:2: 3 numbers, expected 2");
  expect("bird 1 2\ncat 1 x\n", "vectors:2: \"x\" is not a finite number");
  expect("bird 1 2\ncat 1 1e99\n", "vectors:2: \"1e99\" is not a finite number");
  expect("bird 1 2\ncat 1 nan\n", "vectors:2: \"nan\" is not a finite number");
  expect("bird 1 2\ncat 1 0x\x01\n", "vectors:2: \"0x\\u0001\" is not a finite number");
  expect("the quick brown\n", "vectors:1: \"quick\" is not a finite number");
  expect("word\n", "vectors:1: 0 numbers, expected 1 to 65536");
}

TEST_F(WordVectorsTest, RejectsTruncatedFiles) {
  expect("", "is empty");
  expect("\n\n", "holds no vectors");
  expect("3 2\n", "holds no vectors");
  expect("3 2\ncat 1 2\n", "is truncated after 1 of 3 words");
  const std::string whole = binary("2 3", {{"cat", {1, 2, 3}}, {"dog", {4, 5, 6}}});
  expect(whole.substr(0, whole.size() - 2), "is truncated in word 2 of 2");
  expect(whole.substr(0, whole.size() - 14), "is truncated in word 2 of 2");
}

TEST_F(WordVectorsTest, RejectsHostileHeaders) {
  expect("9223372036854775807 3\ncat 1 2 3\n", "is truncated after 1 of 9223372036854775807 words");
  expect("1 9223372036854775807\ncat 1\n", "1 words of 9223372036854775807 dimensions");
  expect("1 0\ncat\n", "1 words of 0 dimensions");
  expect("-1 3\ncat 1 2 3\n", "-1 words of 3 dimensions");
  expect(binary("9223372036854775807 3", {{"cat", {1, 2, 1e-20f}}}),
         "is truncated in word 2 of 9223372036854775807");
}

TEST_F(WordVectorsTest, RejectsBinaryNumbersThatAreNotFinite) {
  expect(binary("1 2", {{"cat", {1, std::numeric_limits<float>::quiet_NaN()}}}),
         "the vector of word 1, \"cat\", is not finite");
}

TEST_F(WordVectorsTest, RejectsADirectory) {
  expect_error([&] { read_word_vectors(folder_.path(), {}); }, "is a directory, expected a file");
}

}  // namespace
}  // namespace heed::io
