#include "heed/data/documents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "heed/base/error.h"

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;

class DocumentsTest : public ::testing::Test {
 protected:
  DocumentsTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("heed_documents_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DocumentsTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  std::string error_of(const std::string& name) {
    try {
      read_documents(folder_ / name, DocumentEnd::file);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
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
  EXPECT_EQ(read_documents(folder_, DocumentEnd::file), (Texts{"first", "second", "last"}));
}

TEST_F(DocumentsTest, RejectsMissingEmptyAndInvalidFiles) {
  EXPECT_NE(error_of("none").find("cannot be opened"), std::string::npos);
  EXPECT_NE(error_of("").find("contains no text files"), std::string::npos);
  write("blank", " \n\n");
  EXPECT_NE(error_of("blank").find("contains no text"), std::string::npos);
  write("bytes", "fine\nnot \xC0 fine\n");
  EXPECT_NE(error_of("bytes").find("line 2 is not valid UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace heed::data
