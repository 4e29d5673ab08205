#include "heed/server_config.h"

#include <sys/stat.h>
#include <toml++/toml.h>

#include <array>
#include <charconv>
#include <limits>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/engine/load_options.h"
#include "heed/serve/api_error.h"
#include "heed/serve/fields/declared_fields.h"
#include "heed/serve/server_options.h"
#include "heed/train/config/toml_keys.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

/// TOML as JSON, which JsonFields reads.
Json to_json(const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
    return object;
  }
  if (const toml::array* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& value : *array) list.push_back(to_json(value));
    return list;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto integer = node.value_exact<int64_t>()) return *integer;
  if (const auto number = node.value_exact<double>()) return *number;
  std::ostringstream date;
  node.visit([&](const auto& inner) { date << inner; });
  return date.str();
}

Json read_toml(const fs::path& file) {
  const std::string text = read_file(file);
  train::check_toml_keys(text, file.string());
  try {
    return to_json(toml::parse(text, file.string()));
  } catch (const toml::parse_error& error) {
    fail("{}: line {}: {}", file.string(), error.source().begin.line, error.description());
  }
}

/// Throws Error when everyone can read a file, which holds keys.
void require_private(const fs::path& file) {
  struct stat status {};
  require(stat(file.c_str(), &status) == 0, "{}: cannot be read", file.string());
  require((status.st_mode & S_IROTH) == 0, "{}: everyone can read the keys: chmod o= it",
          file.string());
}

/// A path as the file means it: relative to its directory, if there is such a file.
std::string resolved(const std::string& path, const fs::path& directory) {
  return fs::path(path).is_relative() && path_exists(directory / path) ? (directory / path).string()
                                                                       : path;
}

/// Reads all options of a table. Paths in them are relative to `directory`.
template <typename Table>
void read_options(JsonFields& fields, const fs::path& directory, typename Table::Options& options) {
  Table::for_each([&]<typename Option>(const Option& option) {
    read_option(fields, option, options);
    if constexpr (std::is_same_v<typename Option::Number, fs::path>)
      if (fs::path& path = options.*option.field; !path.empty()) path = resolved(path, directory);
  });
}

std::vector<Json> tables(JsonFields& fields, const char* key) {
  const Json* list = fields.find(key);
  if (!list) return {};
  if (!list->is_array()) throw invalid_request(key, fmt::format("{} is not a list of tables", key));
  return {list->begin(), list->end()};
}

AdapterOptions read_adapter(const Json& table, const std::string& path, const fs::path& directory) {
  JsonFields fields(table, path);
  AdapterOptions adapter;
  for (const char* name : {"name", "path"}) fields.require(name);
  read_options<engine::AdapterOption>(fields, directory, adapter);
  fields.end();
  return adapter;
}

void read_speculation(JsonFields& fields, const fs::path& directory, SpeculationOptions& options) {
  if (const auto source = fields.text("speculate")) {
    if (*source != "ngram") {
      const std::string path = fields.path_of("speculate");
      throw invalid_request(path,
                            fmt::format("{} is {}, expected \"ngram\"", path, quoted(*source)));
    }
    options.ngram = true;
  }
  if (const auto draft = fields.text("draft")) options.draft = resolved(*draft, directory);
  read_option(fields, engine::SpeculationOption::draft_weights, options);
}

ModelSource read_model(const Json& table, const std::string& path, const fs::path& directory) {
  JsonFields fields(table, path);
  ModelSource model;
  for (const char* name : {"name", "path"}) fields.require(name);
  read_options<ModelSourceOption>(fields, directory, model);
  model.path = resolved(model.path, directory);
  read_options<engine::LoadOption>(fields, directory, model.load);
  read_speculation(fields, directory, model.load.speculation);
  read_options<BatchingOption>(fields, directory, model.batching);
  for (const Json& adapter : tables(fields, "adapter"))
    model.load.adapters.push_back(read_adapter(adapter, fields.path_of("adapter"), directory));
  fields.end();
  return model;
}

/// A table [[key]]: keys of this name, from `file` or from another one.
std::vector<ApiKey> read_keys(const Json& table, const fs::path& file) {
  JsonFields fields(table, "key");
  ApiKey key;
  fields.require("name");
  read_options<ApiKeyOption>(fields, file.parent_path(), key);
  const auto other = fields.text("key_file");
  fields.end();
  if (key.name.empty()) throw invalid_request("key.name", "key.name is empty");
  if (other.has_value() != key.key.empty())
    throw invalid_request(
        "key", fmt::format("the key {} needs value or key_file, one of the two", quoted(key.name)));
  if (!other) {
    require_private(file);
    return {key};
  }
  std::vector<ApiKey> keys;
  for (std::string& value : read_api_keys(resolved(*other, file.parent_path()))) {
    key.key = std::move(value);
    keys.push_back(key);
  }
  return keys;
}

void read_limits(JsonFields& fields, const fs::path& directory, ServerOptions& server) {
  const Json* table = fields.find("limits");
  if (!table) return;
  JsonFields limits(*table, "limits");
  read_options<QueueLimit>(limits, directory, server.queue);
  read_options<HttpLimit>(limits, directory, server.http);
  read_option(limits, ServerOption::request_time, server);
  if (const auto memory = limits.text(ServerOption::memory_limit.key))
    server.memory_limit = parse_bytes(*memory);
  limits.end();
}

void read_fields(const Json& json, const fs::path& file, ServerConfig& config) {
  const fs::path directory = file.parent_path();
  JsonFields fields(json);
  ServerOptions& server = config.server;
  read_option(fields, ServerOption::host, server);
  read_option(fields, ServerOption::port, server);
  read_options<ServerConfigOption>(fields, directory, config);
  if (const auto keys = fields.text("api_key_file"))
    server.api_keys = read_api_keys(resolved(*keys, directory));
  read_option(fields, ServerOption::cors_origins, server);
  for (const Json& table : tables(fields, "key"))
    for (ApiKey& key : read_keys(table, file)) server.named_keys.push_back(std::move(key));
  read_option(fields, ServerOption::log_texts, server);
  read_option(fields, ServerOption::seed, server);
  read_option(fields, ServerOption::unknown_fields, server);
  read_option(fields, ServerOption::log_health, server);
  read_limits(fields, directory, server);
  for (const Json& model : tables(fields, "model"))
    server.models.push_back(read_model(model, "model", directory));
  fields.end();
}

}  // namespace
}  // namespace heed::serve

namespace heed {

void read_server_config(const std::filesystem::path& file, ServerConfig& config) {
  const serve::Json json = serve::read_toml(file);
  try {
    serve::read_fields(json, file, config);
  } catch (const serve::ApiError& error) {
    fail("{}: {}", file.string(), error.what());
  }
}

std::vector<std::string> read_api_keys(const std::filesystem::path& file) {
  serve::require_private(file);
  std::vector<std::string> keys;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.front() != '#') keys.push_back(line);
  }
  require(!keys.empty(), "{}: holds no key", file.string());
  return keys;
}

uint64_t parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  static constexpr std::array kUnits{
      Unit{"", 1},
      Unit{"kB", 1'000},
      Unit{"MB", 1'000'000},
      Unit{"GB", 1'000'000'000},
      Unit{"KiB", uint64_t{1} << 10},
      Unit{"MiB", uint64_t{1} << 20},
      Unit{"GiB", uint64_t{1} << 30},
  };
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  std::string_view unit(last, static_cast<size_t>(end - last));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& one : kUnits)
    if (error == std::errc() && unit == one.name &&
        number <= std::numeric_limits<uint64_t>::max() / one.bytes)
      return number * one.bytes;
  fail("{} is not a number of bytes, expected one such as 8GiB", quoted(text));
}

ModelSource parse_model_source(const std::string& text) {
  ModelSource model;
  const size_t equals = text.find('=');
  if (equals != text.npos) {
    model.name = text.substr(0, equals);
    model.path = text.substr(equals + 1);
  } else {
    model.path = text;
    const std::filesystem::path path(text);
    model.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  }
  require(!model.name.empty() && !model.path.empty(),
          "{} does not name a model, expected NAME=MODEL", quoted(text));
  return model;
}

}  // namespace heed
