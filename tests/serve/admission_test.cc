#include "heed/serve/admission.h"

#include <gtest/gtest.h>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

int status_of(Admission& admission, int64_t tokens) {
  try {
    admission.enter(tokens);
    return 200;
  } catch (const ApiError& error) {
    int retry_after = 0;
    for (const auto& [name, value] : error.headers)
      if (name == "Retry-After") retry_after = std::stoi(value);
    EXPECT_EQ(retry_after > 0, error.status == 429);
    return error.status;
  }
}

TEST(Admission, RefusesMoreRequestsThanMayWait) {
  Admission admission({.requests = 2, .tokens = 1000});
  EXPECT_EQ(status_of(admission, 1), 200);
  EXPECT_NO_THROW(admission.check_room());
  EXPECT_THROW(admission.check_room(1), ApiError);
  EXPECT_EQ(status_of(admission, 1), 200);
  EXPECT_THROW(admission.check_room(), ApiError);
  EXPECT_EQ(status_of(admission, 1), 429);
  admission.leave(1, 1);
  EXPECT_EQ(status_of(admission, 1), 200);
  EXPECT_EQ(admission.requests(), 2);
}

TEST(Admission, RefusesMoreTokensThanMayWait) {
  Admission admission({.requests = 100, .tokens = 10});
  EXPECT_EQ(status_of(admission, 6), 200);
  EXPECT_EQ(status_of(admission, 5), 429);
  EXPECT_EQ(status_of(admission, 4), 200);
  EXPECT_EQ(admission.tokens(), 10);
  admission.leave(0, 3);
  EXPECT_EQ(status_of(admission, 3), 200);
}

TEST(Admission, TellsAClientThatWaitingWouldNotHelp) {
  Admission admission({.requests = 100, .tokens = 10});
  EXPECT_EQ(status_of(admission, 11), 400);
  EXPECT_EQ(admission.requests(), 0);
}

}  // namespace
}  // namespace heed::serve
