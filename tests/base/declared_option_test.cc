#include "heed/base/declared_option.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Range, HasItsBounds) {
  const Range<double> closed{0, 1}, open{0, 1, true};
  EXPECT_TRUE(closed.contains(0) && closed.contains(1) && open.contains(1));
  EXPECT_FALSE(open.contains(0) || closed.contains(-0.5) || closed.contains(1.5));
  EXPECT_FALSE(closed.contains(std::nan("")) || Range<double>().contains(std::nan("")));
}

TEST(Range, IsSaidInWords) {
  EXPECT_EQ(Range<double>({0, 1000}).text(), "0 to 1000");
  EXPECT_EQ(Range<double>({0, 1, true}).text(), "above 0 and at most 1");
  EXPECT_EQ(Range<int64_t>({-1}).text(), "at least -1");
  EXPECT_EQ(Range<double>().text(), "a finite number");
}

struct Weather {
  std::optional<float> wind = {};
};
constexpr DeclaredOption<Weather, std::optional<float>> kWind{
    .name = "wind", .field = &Weather::wind, .help = "km/h", .range = {0, 400}, .served = {0, 100}};

TEST(DeclaredOption, NamesANumberOutOfRange) {
  kWind.check(400);
  try {
    kWind.check(-1.5f);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "wind is -1.5, expected 0 to 400");
  }
}

TEST(DeclaredOption, HasItsRangeWhereThereIsNoOther) {
  EXPECT_EQ(kWind.typed.max, 400);
  EXPECT_EQ(kWind.served.max, 100);
}

}  // namespace
}  // namespace heed
