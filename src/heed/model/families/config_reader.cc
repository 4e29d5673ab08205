#include "heed/model/families/config_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::model {

ConfigReader::ConfigReader(const nlohmann::json& json, std::string file)
    : json_(std::make_unique<nlohmann::json>(json)), file_(std::move(file)) {}

ConfigReader::~ConfigReader() = default;

bool ConfigReader::has(const char* key) const { return json_->contains(key); }

void ConfigReader::set(const char* key, const nlohmann::json& value) { (*json_)[key] = value; }

const nlohmann::json& ConfigReader::value(const char* key) {
  static const nlohmann::json missing;
  understood_.insert(key);
  const auto found = json_->find(key);
  return found == json_->end() ? missing : *found;
}

bool ConfigReader::states(const char* key) const {
  const auto found = json_->find(key);
  return found != json_->end() && !found->is_null();
}

void ConfigReader::set_defaults(const nlohmann::json& defaults) {
  for (const auto& [key, value] : defaults.items())
    if (!json_->contains(key)) (*json_)[key] = value;
}

void ConfigReader::take_alias(const char* alias, const char* key) {
  understood_.insert(alias);
  if (states(alias)) (*json_)[key] = (*json_)[alias];
}

void ConfigReader::expect(const char* key, const nlohmann::json& value) {
  understood_.insert(key);
  const auto found = json_->find(key);
  require(found == json_->end() || found->is_null() || *found == value, "{}: {} is {}, expected {}",
          file_, key, found == json_->end() ? "" : excerpt(*found), dump_json(value));
}

void ConfigReader::understand(std::initializer_list<const char*> keys) {
  for (const char* key : keys) understood_.insert(key);
}

void ConfigReader::understand_all() {
  for (const auto& [key, value] : json_->items()) understood_.insert(key);
}

void ConfigReader::require_object(const char* key) const {
  require(json_->is_object(), "{}: {} is {}, expected an object", file_, key, excerpt(*json_));
}

std::vector<std::string> ConfigReader::unread() const {
  std::vector<std::string> keys;
  if (!json_->is_object()) return keys;
  for (const auto& [key, value] : json_->items())
    if (!value.is_null() && !understood_.contains(key)) keys.push_back(key);
  return keys;
}

void ConfigReader::add_unread(const ConfigReader& inside, const char* key) {
  for (const std::string& own : inside.unread())
    warn(fmt::format("{}: {} of {} is {} and is ignored: nothing reads it there", file_,
                     one_line(own), key, excerpt((*inside.json_)[own])));
  for (const std::string& warning : inside.warnings_) warn(warning);
}

std::vector<std::string> ConfigReader::warnings() const {
  constexpr size_t kMost = 20;  // a file may have any number
  std::vector<std::string> all = warnings_;
  std::vector<std::string> keys = unread();
  std::erase_if(keys, [](const std::string& key) {
    return std::ranges::find(ignored_fields(), key) != ignored_fields().end();
  });
  for (const std::string& key : std::span(keys).first(std::min(keys.size(), kMost)))
    all.push_back(
        fmt::format("{}: {} is {} and is ignored: models of this family have no such "
                    "field",
                    file_, one_line(key), excerpt((*json_)[key])));
  if (keys.size() > kMost)
    all.push_back(
        fmt::format("{}: {} more fields are ignored: models of this family have no such fields",
                    file_, keys.size() - kMost));
  return all;
}

}  // namespace heed::model
