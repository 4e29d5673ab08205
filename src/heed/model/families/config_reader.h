#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::model {

/// A config.json while a family reads it. It remembers the fields that the family understands:
/// those that it reads, expects at one value or names as without effect. All others are in
/// unread().
///
/// As in transformers, a field that is null is given: set_defaults() leaves it, and get_or() takes
/// it for missing, or for false.
class ConfigReader {
 public:
  /// `file` names the source in messages.
  ConfigReader(const nlohmann::json& json, std::string file);
  ~ConfigReader();

  const std::string& file() const { return file_; }

  /// As heed::get() and heed::get_or().
  template <JsonField T>
  T get(const char* key) {
    understood_.insert(key);
    return heed::get<T>(*json_, key, file_);
  }
  template <JsonField T>
  T get_or(const char* key, T otherwise) {
    understood_.insert(key);
    if constexpr (std::same_as<T, bool>)
      if (has(key) && !states(key)) return false;
    return heed::get_or<T>(*json_, key, std::move(otherwise), file_);
  }
  /// null when it is missing.
  const nlohmann::json& value(const char* key);
  /// Whether it is given, perhaps as null.
  bool has(const char* key) const;
  /// Whether it is given and not null.
  bool states(const char* key) const;

  /// What a missing field stands for.
  void set_defaults(const nlohmann::json& defaults);
  void set(const char* key, const nlohmann::json& value);
  /// `alias` is another name of `key`, and counts if a file has both.
  void take_alias(const char* alias, const char* key);

  /// Throws Error when the field has another value than the one that heed applies.
  void expect(const char* key, const nlohmann::json& value);
  /// Fields that have no effect on this family, or none here.
  void understand(std::initializer_list<const char*> keys);

  /// Lets `read` read an object, unless it is missing or null. Throws Error on anything else.
  template <typename Read>
  void read_object(const char* key, const Read& read) {
    if (!states(key)) return understand({key});
    ConfigReader inside(value(key), file_);
    inside.require_object(key);
    read(inside);
    add_unread(inside, key);
  }

  /// All fields of a description that heed wrote itself.
  void understand_all();

  /// A warning that needs more words than that a field is ignored.
  void warn(std::string warning) { warnings_.push_back(std::move(warning)); }
  /// Warnings for the fields that are neither understood nor in ignored_fields(), and those of
  /// warn(): "FILE: KEY is VALUE and is ignored: WHY".
  std::vector<std::string> warnings() const;

 private:
  void require_object(const char* key) const;
  std::vector<std::string> unread() const;
  void add_unread(const ConfigReader& inside, const char* key);

  std::unique_ptr<nlohmann::json> json_;
  std::string file_;
  std::set<std::string, std::less<>> understood_;
  std::vector<std::string> warnings_;
};

/// The fields of any family's config.json that cannot change what a model computes.
std::span<const std::string_view> ignored_fields();

}  // namespace heed::model
