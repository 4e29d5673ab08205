#include "heed/base/names.h"

#include <gtest/gtest.h>

#include "tests/base/testing.h"

namespace heed {
namespace {

enum class Fruit { apple, pear };
std::string_view name_of(Fruit fruit) { return fruit == Fruit::apple ? "apple" : "pear"; }

TEST(Named, FindsAValueByItsName) {
  EXPECT_EQ(named<Fruit>("pear", {Fruit::apple, Fruit::pear}), Fruit::pear);
}

TEST(Named, SaysWhatIsKnown) {
  expect_error(
      [] {
        named<Fruit>("plum", {Fruit::apple, Fruit::pear});
      },
      "\"plum\" is not known, expected one of apple, pear");
}

}  // namespace
}  // namespace heed
