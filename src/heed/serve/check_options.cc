#include "heed/serve/check_options.h"

#include <algorithm>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/serve/server_options.h"

namespace heed::serve {
namespace {

template <typename Declared, typename Options>
void check_limit(std::string_view of, const Declared& option, const Options& options) {
  const auto check = [&](int64_t number, std::string_view unit) {
    require(option.range.contains(number), "{}{} is {}{}, expected {}{}", of, option.name, number,
            unit, option.range.text(), unit);
  };
  const auto& value = options.*option.field;
  if constexpr (std::is_same_v<typename Declared::Number, std::chrono::milliseconds>)
    check(value.count(), " ms");
  else if constexpr (std::is_integral_v<typename Declared::Number>)
    check(static_cast<int64_t>(value), "");
}

}  // namespace

void check_options(const ServerOptions& options) {
  QueueLimit::for_each([&](const auto& option) { check_limit("queue.", option, options.queue); });
  HttpLimit::for_each([&](const auto& option) { check_limit("http.", option, options.http); });
  check_limit("", ServerOption::request_time, options);
  require(std::ranges::none_of(options.api_keys, &std::string::empty), "an API key is empty");
  for (const ApiKey& key : options.named_keys) {
    require(!key.key.empty(), "the API key {} is empty", quoted(key.name));
    ApiKeyOption::for_each([&](const auto& option) { check_limit("named_keys.", option, key); });
  }
}

}  // namespace heed::serve
