#pragma once

#include <filesystem>
#include <string>

#include "heed/hub.h"

namespace heed::hub {

/// HubOptions completed by the environment.
struct Settings {
  std::string endpoint;  // without a slash at the end
  std::filesystem::path cache;
  std::string token;  // empty: none
  bool offline = false;
};

/// Throws Error when the endpoint is not the URL of a server, and when the token holds characters
/// that cannot be part of a header. Messages do not repeat the token.
Settings settings_of(const HubOptions& options);

}  // namespace heed::hub
