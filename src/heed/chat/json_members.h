#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/base/spelling.h"

namespace heed::chat {

/// Reads the members of a JSON object that a user gave. Errors are InputErrors that begin with the
/// place: "messages[0].role is 1, expected a string". A member that is null is absent.
class JsonMembers {
 public:
  using Json = nlohmann::ordered_json;

  /// The object must outlive this.
  JsonMembers(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    require_input(object.is_object(), "{} is {}, expected an object", place_, excerpt(object));
  }

  std::string place_of(std::string_view name) const { return fmt::format("{}.{}", place_, name); }

  const Json* find(std::string_view name) {
    known_.emplace(name);
    const auto found = object_.find(std::string(name));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  /// A string; empty if it is absent.
  std::string text(std::string_view name) {
    const Json* value = find(name);
    if (!value) return {};
    require_input(value->is_string(), "{} is {}, expected a string", place_of(name),
                  excerpt(*value));
    return value->get<std::string>();
  }

  /// Members that are allowed and have no effect here.
  void ignore(std::initializer_list<const char*> names) {
    known_.insert(names.begin(), names.end());
  }

  /// Members that have an effect which heed does not offer, unless they are empty or false.
  void only_empty(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const Json* value = find(name);
      const bool nothing =
          !value || *value == false || *value == "" || (value->is_structured() && value->empty());
      require_input(nothing, "{} is {}, which heed does not offer", place_of(name),
                    nothing ? "" : excerpt(*value));
    }
  }

  /// Throws InputError that names a member which none of these functions was asked for, unless it
  /// is null.
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (known_.contains(name) || value.is_null()) continue;
      const std::string similar = similar_word(name, known_);
      fail_input("{} is not a known field{}", place_of(one_line(name)),
                 similar.empty() ? "" : fmt::format("; did you mean {}?", similar));
    }
  }

 private:
  const Json& object_;
  const std::string place_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace heed::chat
