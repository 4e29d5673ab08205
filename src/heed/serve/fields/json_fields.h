#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/names.h"

namespace heed::serve {

using Json = nlohmann::ordered_json;

/// The body of a request. Throws ApiError unless it is a JSON object that is no deeper and has no
/// more values than a server can afford.
Json parse_body(std::string_view body);

/// A whole number, also one that is written as 39.0; none if it is something else or does not fit.
std::optional<int64_t> whole_number(const Json& value);

/// Reads the fields of a JSON object. Every function throws ApiError, which names the field, when
/// its value has another type or is out of range. A field that is null is absent.
class JsonFields {
 public:
  /// Receives the name of a field that is ignored because it is not known.
  using OnIgnored = std::function<void(const std::string& name)>;

  /// `path` stands before the names of fields in messages: "messages[0]" or nothing. Without
  /// `on_ignored`, a field that is not known is an error. The object must outlive this.
  explicit JsonFields(const Json& object, std::string path = {}, OnIgnored on_ignored = {});

  /// The fields of an object within this one.
  JsonFields inner(const Json& object, std::string path) const {
    return JsonFields(object, std::move(path), on_ignored_);
  }
  /// The fields of the object `name`, which must be there.
  JsonFields inner(std::string_view name) { return inner(require(name), path_of(name)); }

  const Json* find(std::string_view name);
  const Json& require(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::string required_text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, int64_t min, int64_t max);
  std::optional<double> number(std::string_view name, double min, double max);
  /// A string or a list of strings.
  std::optional<std::vector<std::string>> texts(std::string_view name);
  /// One of these values; the first one if it is absent.
  std::string one_of(std::string_view name, std::initializer_list<const char*> values);
  /// The value of an enumeration by its name.
  template <typename Enum>
  std::optional<Enum> named(std::string_view name) {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    std::vector<std::string_view> names;
    for (const Enum one : enumerators<Enum>()) {
      if (*value == name_of(one)) return one;
      names.push_back(name_of(one));
    }
    fail_name(name, names);
  }

  /// Fields that are allowed and have no effect here.
  void ignore(std::initializer_list<const char*> names);
  /// Reports that a known field is ignored here. Throws ApiError if such fields are refused.
  void report_ignored(std::string_view name) const;
  /// Fields whose only value is `value`, or that may be absent: what heed does not offer.
  void only(std::string_view name, const Json& value);
  /// Handles the fields that none of these functions was asked for: they are reported as ignored.
  /// Throws ApiError when one is at most two letters from a known one, or if all are to be refused.
  void end() const;

  /// The name of a field in messages.
  std::string path_of(std::string_view name) const;

 private:
  [[noreturn]] void fail_name(std::string_view name, const std::vector<std::string_view>& names);

  const Json& object_;
  const std::string path_;
  const OnIgnored on_ignored_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace heed::serve
