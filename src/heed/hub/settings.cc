#include "heed/hub/settings.h"

#include <algorithm>
#include <cstdlib>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;

/// The value of an environment variable; empty if it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path home() {
  const std::string home = variable("HOME");
  return home.empty() ? fs::path("/") : fs::path(home);
}

/// A path of an environment variable, in which a leading ~ is the home directory.
fs::path path_of(const std::string& value) {
  if (value == "~") return home();
  return value.starts_with("~/") ? home() / value.substr(2) : fs::path(value);
}

/// HF_HOME.
fs::path hub_home() {
  if (const std::string set = variable("HF_HOME"); !set.empty()) return path_of(set);
  const std::string caches = variable("XDG_CACHE_HOME");
  return (caches.empty() ? home() / ".cache" : path_of(caches)) / "huggingface";
}

fs::path cache_directory() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const std::string set = variable(name); !set.empty()) return path_of(set);
  return hub_home() / "hub";
}

std::string token_of_environment() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const std::string value = variable(name); !trimmed(value).empty())
      return std::string(trimmed(value));
  const std::string set = variable("HF_TOKEN_PATH");
  const fs::path file = set.empty() ? hub_home() / "token" : path_of(set);
  return path_exists(file) ? std::string(trimmed(read_file(file))) : "";
}

bool offline_by_environment() {
  const auto is_on = [](const std::string& set) {
    const std::string value = lower_case(set);
    return value == "1" || value == "on" || value == "yes" || value == "true";
  };
  return is_on(variable("HF_HUB_OFFLINE")) || is_on(variable("TRANSFORMERS_OFFLINE"));
}

std::string endpoint_of(const HubOptions& options) {
  std::string endpoint = options.endpoint.value_or(variable("HF_ENDPOINT"));
  if (endpoint.empty()) return "https://huggingface.co";
  endpoint.erase(endpoint.find_last_not_of('/') + 1);
  const bool known = endpoint.starts_with("https://") || endpoint.starts_with("http://");
  const bool printable =
      std::ranges::all_of(endpoint, [](char c) { return c > ' ' && c <= '~' && c != '\\'; });
  require(known && printable, "the hub's endpoint is {}, expected https://HOST", quoted(endpoint));
  return endpoint;
}

}  // namespace

Settings settings_of(const HubOptions& options) {
  Settings settings;
  settings.endpoint = endpoint_of(options);
  settings.cache = options.cache ? *options.cache : cache_directory();
  settings.offline = options.offline ? *options.offline : offline_by_environment();
  settings.token = options.token ? *options.token : token_of_environment();
  require(std::ranges::all_of(settings.token, [](char c) { return c > ' ' && c <= '~'; }),
          "the hub's token holds characters other than printable ASCII");
  return settings;
}

}  // namespace heed::hub
