#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"
#include "heed/server.h"

namespace heed {

/// The configuration of `heed serve`.
struct ServerConfig {
  ServerOptions server;                          // models, address, limits
  int threads = 0;                               // that compute; 0: all processors
  std::chrono::milliseconds drain_time{30'000};  // for requests that run when the server is to end
};

/// Reads serve.toml (docs/serving.md) into `config`: what the file does not name stays as it is.
/// Paths in it are relative to its directory. Throws Error that names the file and the key.
HEED_EXPORT void read_server_config(const std::filesystem::path& file, ServerConfig& config);

/// API keys, one a line; empty lines and lines that begin with # are left out. Throws Error when
/// the file cannot be read, holds no key, or may be read by everyone.
HEED_EXPORT std::vector<std::string> read_api_keys(const std::filesystem::path& file);

/// "8GiB", "500MB", "1000000": a number of bytes. Throws Error on anything else.
HEED_EXPORT uint64_t parse_bytes(std::string_view text);

/// A model of the command line: "NAME=PATH", or "PATH", whose last part is the name.
HEED_EXPORT ModelSource parse_model_source(const std::string& text);

}  // namespace heed
