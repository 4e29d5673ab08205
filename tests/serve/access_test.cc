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
  const Access access({.api_keys = {"first", "second"}});
  const Route route{.method = "POST", .path = "/v1/completions"};
  for (const char* good : {"Bearer first", "Bearer second", "bearer first", "BEARER  second"})
    EXPECT_NO_THROW(access.check_key(with_header("authorization", good), route)) << good;
  for (const char* bad : {"", "first", "Bearer ", "Bearer firs", "Bearer firstt",
                          "Bearer firstfirst", "Bearer second ", "Basic first"}) {
    try {
      access.check_key(with_header("authorization", bad), route);
      FAIL() << bad;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 401) << bad;
      EXPECT_EQ(error.headers.front(),
                std::pair(std::string("WWW-Authenticate"), std::string("Bearer")));
    }
  }
  EXPECT_NO_THROW(access.check_key(with_header("x-api-key", "second"), route));
  EXPECT_THROW(access.check_key(with_header("x-api-key", "third"), route), ApiError);
}

/// The status of the refusal; 0: it is allowed.
int status_of(const std::function<void()>& check) {
  try {
    check();
    return 0;
  } catch (const ApiError& error) {
    return error.status;
  }
}

TEST(Access, LimitsTheRequestsOfAKeyInAMinute) {
  Access access({.named_keys = {{.name = "slow", .key = "s", .requests_per_minute = 2},
                                {.name = "fast", .key = "f"}}});
  const Route route{.method = "POST", .path = "/v1/completions"};
  const ApiKey& slow = *access.check_key(with_header("x-api-key", "s"), route);
  const ApiKey& fast = *access.check_key(with_header("x-api-key", "f"), route);
  EXPECT_EQ(slow.name, "slow");
  const auto now = Access::Clock::now();
  const auto count = [&](const ApiKey& key, int seconds) {
    return status_of([&] { access.count_request(key, now + std::chrono::seconds(seconds)); });
  };
  EXPECT_EQ(count(slow, 0), 0);
  EXPECT_EQ(count(slow, 0), 0);
  EXPECT_EQ(count(slow, 1), 429);
  EXPECT_EQ(count(slow, 31), 0);
  EXPECT_EQ(count(slow, 32), 429);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(count(fast, 0), 0);
  try {
    access.count_request(slow, now + std::chrono::seconds(33));
    FAIL();
  } catch (const ApiError& error) {  // a tenth of a request has come back
    EXPECT_EQ(error.headers.front().second, "27");
  }
}

TEST(Access, LetsOnlyKeysThatMayManageModels) {
  const Route route{.method = "POST", .path = "/models/unload", .manages = true};
  const Access access(
      {.api_keys = {"plain"}, .named_keys = {{.name = "ops", .key = "o", .manage = true}}});
  EXPECT_EQ(status_of([&] { access.check_key(with_header("x-api-key", "o"), route); }), 0);
  EXPECT_EQ(status_of([&] { access.check_key(with_header("x-api-key", "plain"), route); }), 403);
  EXPECT_EQ(status_of([&] { access.check_key({}, route); }), 401);
  EXPECT_EQ(status_of([&] { Access(ServerOptions{}).check_key({}, route); }), 403);
}

TEST(Access, LeavesOpenRoutesAndServersWithoutKeysOpen) {
  const Route closed{.method = "GET", .path = "/v1/models"};
  const Route open{.method = "GET", .path = "/health", .needs_no_key = true};
  const Access with_key({.api_keys = {"key"}});
  EXPECT_NO_THROW(with_key.check_key({}, open));
  EXPECT_NO_THROW(Access(ServerOptions{}).check_key({}, closed));
  EXPECT_THROW(with_key.check_key({}, closed), ApiError);
}

TEST(Access, LetsOnlyPagesOfAllowedOriginsRead) {
  const Access access({.cors_origins = {"https://a.example"}});
  EXPECT_TRUE(access.cors_headers(with_header("origin", "https://b.example")).empty());
  EXPECT_TRUE(access.cors_headers({}).empty());
  const auto headers = access.cors_headers(with_header("origin", "https://a.example"));
  ASSERT_FALSE(headers.empty());
  EXPECT_EQ(headers.front().second, "https://a.example");
  EXPECT_FALSE(Access({.cors_origins = {"*"}})
                   .cors_headers(with_header("origin", "https://c.example"))
                   .empty());
}

TEST(Access, AnswersPreflightsOfAllowedOrigins) {
  HttpRequest request = with_header("origin", "https://a.example");
  request.method = "OPTIONS";
  request.headers.emplace_back("access-control-request-method", "POST");
  EXPECT_TRUE(Access({.cors_origins = {"https://a.example"}}).is_preflight(request));
  EXPECT_FALSE(Access(ServerOptions{}).is_preflight(request));
}

TEST(Access, AllowsTheHeadersThatAPageWantsToSend) {
  const auto allowed = [](const std::string& wanted) {
    for (const auto& [name, value] :
         Access::preflight(with_header("access-control-request-headers", wanted)).headers)
      if (name == "Access-Control-Allow-Headers") return value;
    return std::string();
  };
  EXPECT_EQ(allowed("authorization,x-stainless-os, X-Stainless-Arch"),
            "authorization,x-stainless-os, X-Stainless-Arch");
  EXPECT_NE(allowed("").find("Content-Type"), std::string::npos);
  for (const std::string& bad : {std::string("a\r\nSet-Cookie: b"), std::string("a\"b"),
                                 std::string("a:b"), std::string(5000, 'a')})
    EXPECT_EQ(allowed(bad), allowed("")) << bad;
}

}  // namespace
}  // namespace heed::serve
