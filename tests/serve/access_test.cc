#include "heed/serve/access.h"

#include <gtest/gtest.h>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

HttpRequest with_header(const std::string& name, const std::string& value) {
  HttpRequest request;
  request.method = "POST";
  request.headers.emplace_back(name, value);
  return request;
}

TEST(Access, NeedsOneOfTheKeys) {
  const Access access({"first", "second"}, {});
  const Route route{.method = "POST", .path = "/v1/completions"};
  for (const char* good : {"Bearer first", "Bearer second"})
    EXPECT_NO_THROW(access.check_key(with_header("authorization", good), route)) << good;
  for (const char* bad : {"", "first", "Bearer ", "Bearer firs", "Bearer firstt",
                          "Bearer firstfirst", "bearer first", "Bearer second ", "Basic first"}) {
    try {
      access.check_key(with_header("authorization", bad), route);
      FAIL() << bad;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 401) << bad;
    }
  }
}

TEST(Access, LeavesOpenRoutesAndServersWithoutKeysOpen) {
  const Route closed{.method = "GET", .path = "/v1/models"};
  const Route open{.method = "GET", .path = "/health", .needs_no_key = true};
  EXPECT_NO_THROW(Access({"key"}, {}).check_key({}, open));
  EXPECT_NO_THROW(Access({}, {}).check_key({}, closed));
  EXPECT_THROW(Access({"key"}, {}).check_key({}, closed), ApiError);
}

TEST(Access, LetsOnlyPagesOfAllowedOriginsRead) {
  const Access access({}, {"https://a.example"});
  EXPECT_TRUE(access.cors_headers(with_header("origin", "https://b.example")).empty());
  EXPECT_TRUE(access.cors_headers({}).empty());
  const auto headers = access.cors_headers(with_header("origin", "https://a.example"));
  ASSERT_FALSE(headers.empty());
  EXPECT_EQ(headers.front().second, "https://a.example");
  EXPECT_FALSE(Access({}, {"*"}).cors_headers(with_header("origin", "https://c.example")).empty());
}

TEST(Access, AnswersPreflightsOfAllowedOrigins) {
  HttpRequest request = with_header("origin", "https://a.example");
  request.method = "OPTIONS";
  request.headers.emplace_back("access-control-request-method", "POST");
  EXPECT_TRUE(Access({}, {"https://a.example"}).is_preflight(request));
  EXPECT_FALSE(Access({}, {}).is_preflight(request));
}

}  // namespace
}  // namespace heed::serve
