#include "heed/inspect/markup.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::inspect {
namespace {

TEST(Filled, ReplacesEachNameOnceAndRefusesMissingOnes) {
  EXPECT_EQ(fill_template("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "2"}}), "<{{b}}|2>");
  EXPECT_THROW(fill_template("{{a}}", {}), Error);
  EXPECT_THROW(fill_template("", {{"a", "1"}}), Error);
  EXPECT_THROW(fill_template("{{a", {{"a", "1"}}), Error);
}

}  // namespace
}  // namespace heed::inspect
