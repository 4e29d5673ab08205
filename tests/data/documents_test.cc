#include "heed/data/documents.h"

#include <gtest/gtest.h>

#include "tests/base/testing.h"

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;

class DocumentsTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    write_quickly(folder_ / name, text);
  }

  void expect_refused(const std::string& name, const std::string& part) {
    expect_error([&] { read_documents(folder_ / name, DocumentEnd::file); }, part);
  }

  const TemporaryDirectory folder_;
};

TEST_F(DocumentsTest, EndAtTheFileLineOrBlankLine) {
  write("a", "\xEF\xBB\xBFone\r\ntwo\n\n \nthree\n");
  EXPECT_EQ(read_documents(folder_ / "a", DocumentEnd::file), (Texts{"one\ntwo\n\n \nthree"}));
  EXPECT_EQ(read_documents(folder_ / "a", DocumentEnd::line), (Texts{"one", "two", "three"}));
  EXPECT_EQ(read_documents(folder_ / "a", DocumentEnd::blank_line), (Texts{"one\ntwo", "three"}));
}

TEST_F(DocumentsTest, OfAFolderAreSortedByPathWithoutHiddenFiles) {
  write("b.txt", "last\n");
  write("a/z.txt", "second\n");
  write("a/y.txt", "first\n");
  write("a/empty.txt", "");
  write(".hidden/x.txt", "never\n");
  write(".x.txt", "never\n");
  EXPECT_EQ(read_documents(folder_.path(), DocumentEnd::file), (Texts{"first", "second", "last"}));
}

TEST_F(DocumentsTest, RejectsMissingEmptyAndInvalidFiles) {
  expect_refused("none", "cannot be opened");
  expect_refused("", "contains no text files");
  write("blank", " \n\n");
  expect_refused("blank", "contains no text");
  write("bytes", "fine\nnot \xC0 fine\n");
  expect_refused("bytes", "line 2 is not valid UTF-8");
}

}  // namespace
}  // namespace heed::data
