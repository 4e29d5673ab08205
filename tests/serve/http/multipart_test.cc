#include "heed/serve/http/multipart.h"

#include <gtest/gtest.h>

#include <random>

#include "heed/error.h"

namespace heed::serve {
namespace {

constexpr std::string_view kFormType = "multipart/form-data; boundary=XX";

std::string form_part(std::string_view headers, std::string_view content) {
  return "--XX\r\n" + std::string(headers) + "\r\n\r\n" + std::string(content) + "\r\n";
}

std::string form_refusal(std::string_view type, std::string_view body) {
  try {
    multipart_form(type, body);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Multipart, HasFieldsAndFiles) {
  const std::string body =
      form_part("Content-Disposition: form-data; name=\"source\"", "en") +
      form_part(
          "content-type: text/plain\r\ncontent-disposition: form-data; name=file; "
          "filename=\"a \\\"b\\\"; c\\d.txt\"",
          std::string_view("\r\n--X\0\xff\r\n", 9)) +
      form_part("Content-Disposition: form-data; name=empty", "") + "--XX--\r\n";
  for (const std::string_view type :
       {kFormType, std::string_view("multipart/form-data; charset=utf-8; Boundary=\"XX\"")}) {
    const std::vector<FormPart> parts = multipart_form(type, body);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].name, "source");
    EXPECT_EQ(parts[0].content, "en");
    EXPECT_FALSE(parts[0].filename);
    EXPECT_EQ(parts[1].name, "file");
    EXPECT_EQ(parts[1].filename, "a \"b\"; c\\d.txt");
    EXPECT_EQ(parts[1].content, std::string_view("\r\n--X\0\xff\r\n", 9));
    EXPECT_EQ(parts[2].content, "");
  }
  EXPECT_EQ(multipart_form(kFormType, "preamble\r\n" + body).size(), 3u);
  EXPECT_TRUE(multipart_form(kFormType, "--XX--").empty());
  EXPECT_EQ(multipart_form(kFormType, body.substr(0, body.find("--XX--")) + body).size(), 6u);
}

TEST(Multipart, OfAnotherFormIsRefused) {
  const std::string part = form_part("Content-Disposition: form-data; name=a", "1"), end = "--XX--";
  EXPECT_NE(form_refusal("multipart/form-data", part + end).find("no boundary"), std::string::npos);
  EXPECT_NE(form_refusal(kFormType, "").find("does not occur"), std::string::npos);
  EXPECT_NE(form_refusal(kFormType, part).find("no last boundary"), std::string::npos);
  EXPECT_NE(form_refusal(kFormType, "--XX").find("no last boundary"), std::string::npos);
  EXPECT_NE(form_refusal(kFormType, "--XX\r\nname: a\r\n" + end).find("do not end"),
            std::string::npos);
  EXPECT_NE(form_refusal(kFormType, "--XX\r\n\r\n--XX--").find("do not end"), std::string::npos);
  EXPECT_NE(form_refusal(kFormType, form_part("Name: a", "1") + end).find("no Content-Disposition"),
            std::string::npos);
  EXPECT_NE(form_refusal(kFormType, form_part("Content-Disposition: form-data", "1") + end)
                .find("no name"),
            std::string::npos);
  EXPECT_NE(
      form_refusal(kFormType, form_part("Content-Disposition: form-data; name=\"a", "1") + end)
          .find("closed"),
      std::string::npos);
  std::string many;
  for (size_t i = 0; i <= kMaxFormFields; ++i)
    many += form_part("Content-Disposition: form-data; name=a" + std::to_string(i), "1");
  EXPECT_NE(form_refusal(kFormType, many + end).find("over 4096 fields"), std::string::npos);
}

/// Under AddressSanitizer no byte beyond the body is read.
TEST(Multipart, DamagedFormsAreReadOrRefused) {
  const std::string whole =
      form_part("Content-Disposition: form-data; name=\"a\"; filename=\"b\"", "1\r\n--X\r\n") +
      form_part("Content-Disposition: form-data; name=c", "2") + "--XX--\r\n";
  std::mt19937 dice(1);
  int read = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string damaged = whole.substr(0, dice() % (whole.size() + 1));
    for (uint32_t k = dice() % 4; k > 0 && !damaged.empty(); --k)
      damaged[dice() % damaged.size()] = "\r\n-X\":;=\0"[dice() % 9];
    if (form_refusal(kFormType, damaged).empty()) ++read;
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace heed::serve
