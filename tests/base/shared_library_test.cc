#include "heed/base/shared_library.h"

#include <gtest/gtest.h>

#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(SharedLibrary, OpensTheFirstThatExistsAndFindsItsFunctions) {
  const SharedLibrary library({"libabsent.so.1", "libm.so.6"}, "a test", "libc6");
  double (*cosine)(double) = nullptr;
  library.find(cosine, "cos");
  EXPECT_EQ(cosine(0), 1);
  expect_error([&] { library.find(cosine, "cosinus"); }, "libm.so.6 has no function cosinus");
}

TEST(SharedLibrary, SaysWhichPackageIsMissing) {
  expect_error(
      [] {
        SharedLibrary({"libabsent.so.1", "libabsent.so.0"}, "a test", "absent1");
      },
      "a test needs a library that cannot be opened: libabsent.so.1: ");
  expect_error([] { SharedLibrary({"libabsent.so.1"}, "a test", "absent1"); },
               "(Debian's package is absent1)");
}

}  // namespace
}  // namespace heed
