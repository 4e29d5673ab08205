#include "heed/base/names.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/base/testing.h"

namespace heed {
namespace {

enum class Fruit { apple, pear };
std::string_view name_of(Fruit fruit) { return fruit == Fruit::apple ? "apple" : "pear"; }

constexpr std::array kFruits{Fruit::apple, Fruit::pear};

TEST(Named, FindsAValueByItsName) { EXPECT_EQ(named("pear", kFruits), Fruit::pear); }

TEST(Named, ReportsTheValidNames) {
  expect_error([] { named("plum", kFruits); },
               "\"plum\" is not known, expected one of apple, pear");
}

}  // namespace
}  // namespace heed
