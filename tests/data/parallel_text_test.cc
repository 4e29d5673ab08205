#include "heed/data/parallel_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "heed/base/error.h"
#include "heed/base/text_lines.h"

namespace heed::data {
namespace {

class ParallelText : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("heed_parallel_text_") + test->name());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& contents) const {
    const std::filesystem::path path = directory_ / name;
    std::ofstream(path, std::ios::binary) << contents;
    return path.string();
  }

  std::filesystem::path directory_;
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

using Lines = std::vector<std::string>;

TEST_F(ParallelText, AcceptsBothLineEndsAndALastLineWithoutOne) {
  EXPECT_EQ(read_lines(file("unix", "one\ntwo\n")), (Lines{"one", "two"}));
  EXPECT_EQ(read_lines(file("windows", "one\r\n\r\ntwo\r\n")), (Lines{"one", "", "two"}));
  EXPECT_EQ(read_lines(file("no_end", "one\ntwo")), (Lines{"one", "two"}));
  EXPECT_EQ(read_lines(file("carriage", "a\rb\n")), (Lines{"a\rb"}));
  EXPECT_EQ(read_lines(file("blank", "\n")), (Lines{""}));
}

TEST_F(ParallelText, PreservesUnicodeAndZeroBytes) {
  using namespace std::string_literals;
  const std::string odd = "na\u00efve\0\u2028 \U0001F989"s;
  EXPECT_EQ(read_lines(file("odd", odd + "\n")), Lines{odd});
}

TEST_F(ParallelText, SkipsAByteOrderMark) {
  EXPECT_EQ(read_lines(file("mark", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")),
            (Lines{"one", "\xEF\xBB\xBFtwo"}));
}

TEST_F(ParallelText, ReadsALongLine) {
  const std::string line(3'000'000, 'x');
  EXPECT_EQ(read_lines(file("long", line + "\nshort\n")), (Lines{line, "short"}));
}

TEST_F(ParallelText, PairsLinesOfTwoFiles) {
  const auto pairs = read_parallel(file("a", "one\ntwo\n"), file("b", "eins\r\nzwei\r\n"));
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].source, "two");
  EXPECT_EQ(pairs[1].target, "zwei");
}

TEST_F(ParallelText, PairsColumnsOfOneFile) {
  const auto pairs = read_tsv(file("a.tsv", "one\teins\r\ntwo words\tzwei W\u00f6rter\n\tonly\n"));
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].target, "eins");
  EXPECT_EQ(pairs[1].source, "two words");
  EXPECT_EQ(pairs[1].target, "zwei W\u00f6rter");
  EXPECT_EQ(pairs[2].source, "");
}

TEST_F(ParallelText, GivesPairsTheLinksOfTheirLine) {
  PairReader reader(
      {.tsv = file("a.tsv", "a b\tx y\nc\tz\n"), .alignments = file("links", "0-1 1-0\n\n")});
  EXPECT_EQ(reader.next()->links, (std::vector<Link>{{0, 1}, {1, 0}}));
  EXPECT_TRUE(reader.next()->links.empty());
  EXPECT_FALSE(reader.next());
  const auto read = [&](const char* links) {
    PairReader pairs({.source = file("a", "a\nb\n"),
                      .target = file("b", "x\ny\n"),
                      .alignments = file("links", links)});
    while (pairs.next()) {
    }
  };
  EXPECT_NE(error_of([&] { read("0-0\n0\n"); }).find("links line 2: "), std::string::npos);
  for (const char* lines : {"0-0\n", "\n\n\n"})
    EXPECT_NE(error_of([&] { read(lines); }).find("lines, and the text has 2 pairs"),
              std::string::npos);
}

TEST_F(ParallelText, ReportsTheFileAndLineOfAFault) {
  const std::string one = file("one", "1\n"), three = file("three", "1\n2\n3\n");
  EXPECT_EQ(error_of([&] { read_parallel(three, one); }),
            three + " has 3 lines, " + one +
                " has 1: each line must be the translation of the same line of the other file");
  const std::string empty = file("empty", "");
  EXPECT_EQ(error_of([&] { read_lines(empty); }), empty + " is empty, expected lines of text");
  const std::string latin = file("latin", "caf\u00e9\ncaf\xE9 noir\n");
  EXPECT_EQ(error_of([&] { read_lines(latin); }),
            latin + " line 2 is not valid UTF-8: byte 4 is 0xE9");
  const std::string missing = (directory_ / "missing").string();
  EXPECT_EQ(error_of([&] { read_lines(missing); }),
            missing + ": cannot be opened: No such file or directory");
  const std::string folder = directory_.string();
  EXPECT_EQ(error_of([&] { read_lines(folder); }), folder + ": cannot be read: Is a directory");
  const std::string columns = file("columns", "a\tb\nno tab\n");
  EXPECT_EQ(error_of([&] { read_tsv(columns); }),
            columns + " line 2 has 1 columns, expected 2: source, tab, target");
  const std::string three_columns = file("three_columns", "a\tb\tc\n");
  EXPECT_EQ(error_of([&] { read_tsv(three_columns); }),
            three_columns + " line 1 has 3 columns, expected 2: source, tab, target");
}

}  // namespace
}  // namespace heed::data
